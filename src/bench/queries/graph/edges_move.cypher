// queries/graph/edges_move.cypher
UNWIND $rows AS row
MATCH (:Entity {id: row.source})-[old:LABEL {id: row.id}]->(:Entity {id: row.target})
MATCH (a:Entity {id: row.source_after})
MATCH (b:Entity {id: row.target_after})
CREATE (a)-[new:LABEL]->(b)
SET new = properties(old)
DELETE old
