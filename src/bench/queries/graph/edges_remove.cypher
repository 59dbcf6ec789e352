// queries/graph/edges_remove.cypher
UNWIND $rows AS row
MATCH (:Entity {id: row.source})-[r:LABEL {id: row.id}]->(:Entity {id: row.target})
DELETE r
