// queries/graph/edges_set.cypher
UNWIND $rows AS row
MATCH (:Entity {id: row.source})-[r:LABEL {id: row.id}]->(:Entity {id: row.target})
SET r += row.properties
