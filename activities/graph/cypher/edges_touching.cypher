// cypher/edges_touching.cypher
UNWIND $ids AS id
MATCH (n:Entity {id: id})-[r]-(:Entity)
WHERE r.namespace_id = $namespace AND r.id IS NOT NULL
WITH DISTINCT r
LIMIT $most
SET r.id = r.id
RETURN startNode(r).id AS source, endNode(r).id AS target, type(r) AS label, properties(r) AS properties
