// queries/graph/nodes_set.cypher
UNWIND $rows AS row
MATCH (n:Entity {id: row.id})
SET n += row.properties
