// cypher/edges_between.cypher
UNWIND $pairs AS pair
MATCH (a:Entity {id: pair.source})
MATCH (b:Entity {id: pair.target})
MATCH (a)-[r]->(b)
WHERE r.namespace_id = $namespace AND r.id IS NOT NULL
WITH DISTINCT r
LIMIT $most
SET r.id = r.id
RETURN startNode(r).id AS source, endNode(r).id AS target, type(r) AS label, properties(r) AS properties
