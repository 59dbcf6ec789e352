// cypher/versions_remove.cypher
UNWIND $rows AS row
MATCH (n:Entity {id: row.entity})-[:SUPERSEDES]->(v:EntityVersion {id: row.version})
WHERE n.namespace_id = $namespace
DETACH DELETE v
