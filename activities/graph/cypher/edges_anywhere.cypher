// cypher/edges_anywhere.cypher
// No index is on the ids of edges of every label: this passes over the edges of the namespace.
MATCH (a:Entity)-[r]->(:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id IN $ids
WITH DISTINCT r
LIMIT $most
SET r.id = r.id
RETURN startNode(r).id AS source, endNode(r).id AS target, type(r) AS label, properties(r) AS properties
