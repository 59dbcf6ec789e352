// cypher/nodes_remove.cypher
// A node on which somebody hung an edge stays.
UNWIND $rows AS row
MATCH (n:Entity {id: row.id})
WHERE n.namespace_id = $namespace AND NOT (n)--()
DELETE n
