// cypher/nodes_import.cypher
// An id that another namespace holds is not taken from it; the count tells.
UNWIND $rows AS row
MERGE (n:Entity {id: row.id})
ON CREATE SET n.namespace_id = $namespace
WITH n, row
WHERE n.namespace_id = $namespace
SET n += row.properties
RETURN count(n) AS count
