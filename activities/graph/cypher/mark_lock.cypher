// cypher/mark_lock.cypher
// The write locks the mark before it is looked at, also where it was there already.
MERGE (m:DreamMirror {namespace_id: $namespace})
SET m.namespace_id = $namespace
RETURN m.epoch AS epoch, m.batch AS batch
