// cypher/edges_move.cypher
// The old edge goes first, so that a rule that ids of edges are unique holds at every step.
UNWIND $rows AS row
MATCH (:Entity {id: row.source})-[old:`LABEL` {id: row.id}]->(:Entity {id: row.target})
WHERE old.namespace_id = $namespace
MATCH (a:Entity {id: row.source_after})
WHERE a.namespace_id = $namespace
MATCH (b:Entity {id: row.target_after})
WHERE b.namespace_id = $namespace
WITH old, properties(old) AS properties, row.changed AS changed, a, b
DELETE old
CREATE (a)-[new:`LABEL`]->(b)
SET new = properties
SET new += changed
RETURN count(new) AS count
