// cypher/mark_batch.cypher
MATCH (m:DreamMirror {namespace_id: $namespace})
SET m.batch = $batch
