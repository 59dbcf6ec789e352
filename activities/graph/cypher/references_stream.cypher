// cypher/references_stream.cypher
MATCH (a:Entity)-[r]->(b:Entity)
WHERE a.namespace_id = $namespace AND r.namespace_id = $namespace AND r.id IS NOT NULL
  AND (r.source_document_ids IS NOT NULL OR r.source_chunk_ids IS NOT NULL)
RETURN r.id AS id, a.id AS source, b.id AS target, r.valid_until AS valid_until,
       r.source_document_ids AS source_document_ids, r.source_chunk_ids AS source_chunk_ids
