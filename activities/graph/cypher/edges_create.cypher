// cypher/edges_create.cypher
UNWIND $rows AS row
MATCH (a:Entity {id: row.source})
MATCH (b:Entity {id: row.target})
MERGE (a)-[r:`LABEL` {id: row.id}]->(b)
ON CREATE SET r = row.properties
RETURN count(r) AS count
