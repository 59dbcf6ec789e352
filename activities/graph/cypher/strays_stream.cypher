// cypher/strays_stream.cypher
MATCH (n:Entity)-[r]-(:Entity)
WHERE n.namespace_id = $namespace AND n.valid_until IS NOT NULL AND r.namespace_id = $namespace AND r.id IS NOT NULL
RETURN n.id AS node, n.valid_until AS node_valid_until, r.id AS id, r.valid_until AS valid_until
