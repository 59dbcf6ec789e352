// queries/graph/remove_versions.cypher
MATCH (n:EntityVersion)
WHERE n.namespace_id = $namespace
WITH n
LIMIT $most
DETACH DELETE n
RETURN count(*) AS count
