// cypher/neo4j_components.cypher
CALL dbms.components() YIELD name, versions
RETURN name, versions
