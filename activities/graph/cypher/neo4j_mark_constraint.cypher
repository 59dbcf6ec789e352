// cypher/neo4j_mark_constraint.cypher
CREATE CONSTRAINT dream_mirror_namespace IF NOT EXISTS FOR (m:DreamMirror) REQUIRE m.namespace_id IS UNIQUE
