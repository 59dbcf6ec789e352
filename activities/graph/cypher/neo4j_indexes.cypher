// cypher/neo4j_indexes.cypher
SHOW INDEXES YIELD labelsOrTypes, properties, type, state, owningConstraint
WHERE state <> 'FAILED' AND type IN ['RANGE', 'TEXT']
RETURN labelsOrTypes AS labels, properties, owningConstraint IS NOT NULL AS is_unique
