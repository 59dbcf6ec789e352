// cypher/edges_stream.cypher
MATCH (a:Entity)-[r]->(b:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id >= $first AND r.id <= $last
RETURN r.id AS id, a.id AS source, b.id AS target, type(r) AS label, r.valid_until AS valid_until,
       a.valid_until AS source_valid_until, b.valid_until AS target_valid_until
