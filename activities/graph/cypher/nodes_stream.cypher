// cypher/nodes_stream.cypher
MATCH (n:Entity)
WHERE n.namespace_id = $namespace AND n.id >= $first AND n.id <= $last
RETURN n.id AS id, n.valid_until AS valid_until
