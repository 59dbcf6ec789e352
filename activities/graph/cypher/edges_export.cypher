// cypher/edges_export.cypher
MATCH (a:Entity)-[r]->(b:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id IS NOT NULL
RETURN a.id AS source, b.id AS target, type(r) AS label, properties(r) AS properties
