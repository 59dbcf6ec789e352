// cypher/nodes_load.cypher
// A property that is set to itself is locked, and read as it is once the lock is there.
UNWIND $ids AS id
MATCH (n:Entity {id: id})
WHERE n.namespace_id = $namespace
SET n.id = n.id
RETURN properties(n) AS properties
