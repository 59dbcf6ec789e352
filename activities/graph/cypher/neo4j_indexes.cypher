// cypher/neo4j_indexes.cypher
SHOW INDEXES YIELD labelsOrTypes, properties, state, owningConstraint
WHERE state <> 'FAILED'
RETURN labelsOrTypes AS labels, properties, owningConstraint IS NOT NULL AS is_unique
