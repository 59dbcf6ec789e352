// cypher/edges_at.cypher
UNWIND $pairs AS pair
MATCH (a:Entity {id: pair.source})
MATCH (b:Entity {id: pair.target})
MATCH (a)-[r]->(b)
WHERE r.namespace_id = $namespace AND r.id IS NOT NULL
RETURN a.id AS source, b.id AS target, type(r) AS label, properties(r) AS properties
