// cypher/memgraph_version.cypher
SHOW VERSION
