// cypher/edges_create.cypher
UNWIND $rows AS row
MATCH (a:Entity {id: row.source})
WHERE a.namespace_id = $namespace
MATCH (b:Entity {id: row.target})
WHERE b.namespace_id = $namespace
MERGE (a)-[r:`LABEL` {id: row.id}]->(b)
ON CREATE SET r = row.properties
RETURN count(r) AS count
