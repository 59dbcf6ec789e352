// cypher/mark_epoch.cypher
MATCH (m:DreamMirror {namespace_id: $namespace})
SET m.epoch = $epoch
