// cypher/probe.cypher
RETURN 1 AS one
