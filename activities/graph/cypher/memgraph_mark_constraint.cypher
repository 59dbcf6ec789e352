// cypher/memgraph_mark_constraint.cypher
CREATE CONSTRAINT ON (m:DreamMirror) ASSERT m.namespace_id IS UNIQUE
