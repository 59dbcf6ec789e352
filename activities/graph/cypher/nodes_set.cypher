// cypher/nodes_set.cypher
UNWIND $rows AS row
MATCH (n:Entity {id: row.id})
WHERE n.namespace_id = $namespace
SET n += row.properties
