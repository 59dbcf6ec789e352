// cypher/edges_stream.cypher
MATCH (a:Entity)-[r]->(b:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id IS NOT NULL
RETURN r.id AS id, a.id AS source, b.id AS target, type(r) AS label, r.valid_until AS valid_until
