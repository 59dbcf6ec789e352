// cypher/versions_create.cypher
// A copy that is there already stays as it is: the batch was written before.
UNWIND $rows AS row
MATCH (n:Entity {id: row.entity})
WHERE n.namespace_id = $namespace
MERGE (n)-[s:SUPERSEDES]->(v:EntityVersion {id: row.version})
ON CREATE SET
  v = properties(n),
  v.id = row.version,
  v.version_valid_from = coalesce(n.version_valid_from, row.at),
  v.version_valid_to = row.at,
  v.retirement_reason = $reason,
  s.superseded_at = row.at,
  s.reason = $reason
