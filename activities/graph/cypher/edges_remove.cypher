// cypher/edges_remove.cypher
UNWIND $rows AS row
MATCH (:Entity {id: row.source})-[r:`LABEL` {id: row.id}]->(:Entity {id: row.target})
WHERE r.namespace_id = $namespace
DELETE r
