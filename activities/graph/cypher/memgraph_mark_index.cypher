// cypher/memgraph_mark_index.cypher
CREATE INDEX ON :DreamMirror(namespace_id)
