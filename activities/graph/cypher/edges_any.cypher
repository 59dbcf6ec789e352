// cypher/edges_any.cypher
MATCH (a:Entity)-[r]->(:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id IS NOT NULL
RETURN r.id AS id
LIMIT 1
