// cypher/memgraph_entity_index.cypher
CREATE INDEX ON :Entity(id)
