// queries/graph/versions_create.cypher
UNWIND $rows AS row
MATCH (n:Entity {id: row.entity})
CREATE (n)-[:SUPERSEDES {superseded_at: row.at, reason: 'dream_consolidated'}]->(v:EntityVersion)
SET
  v = properties(n),
  v.id = row.version,
  v.version_valid_from = row.at,
  v.version_valid_to = row.at,
  v.retirement_reason = 'dream_consolidated'
