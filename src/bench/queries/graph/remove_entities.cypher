// queries/graph/remove_entities.cypher
MATCH (n:Entity)
WHERE n.namespace_id = $namespace
WITH n
LIMIT $most
DETACH DELETE n
RETURN count(*) AS count
