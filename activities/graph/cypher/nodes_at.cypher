// cypher/nodes_at.cypher
UNWIND $ids AS id
MATCH (n:Entity {id: id})
WHERE n.namespace_id = $namespace
RETURN properties(n) AS properties
