// queries/graph/remove_mark.cypher
MATCH (n:DreamMirror)
WHERE n.namespace_id = $namespace
WITH n
LIMIT $most
DETACH DELETE n
RETURN count(*) AS count
