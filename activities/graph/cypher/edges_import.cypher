// cypher/edges_import.cypher
UNWIND $rows AS row
MATCH (a:Entity {id: row.source})
WHERE a.namespace_id = $namespace
MATCH (b:Entity {id: row.target})
WHERE b.namespace_id = $namespace
MERGE (a)-[r:`LABEL` {id: row.id}]->(b)
SET r += row.properties
RETURN row.id AS id
