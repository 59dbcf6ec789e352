// cypher/neo4j_entity_index.cypher
CREATE INDEX dream_entity_id IF NOT EXISTS FOR (n:Entity) ON (n.id)
