-- queries/relationships/write.sql
-- The final images of touched relationships; a column is written only where its bit is set in `touched`.
update relationships
   set
       source_entity_id = iif(x.value ->> 'touched' & 1, x.value ->> 'source_entity_id', source_entity_id),
       target_entity_id = iif(x.value ->> 'touched' & 2, x.value ->> 'target_entity_id', target_entity_id),
       description = iif(x.value ->> 'touched' & 8, x.value ->> 'description', description),
       properties = iif(x.value ->> 'touched' & 16, x.value ->> 'properties', properties),
       source_document_ids = iif(x.value ->> 'touched' & 32, x.value ->> 'source_document_ids', source_document_ids),
       source_chunk_ids = iif(x.value ->> 'touched' & 64, x.value ->> 'source_chunk_ids', source_chunk_ids),
       invalidated_at = iif(x.value ->> 'touched' & 1024, x.value ->> 'invalidated_at', invalidated_at),
       invalidated_by = iif(x.value ->> 'touched' & 2048, x.value ->> 'invalidated_by', invalidated_by),
       confidence = iif(x.value ->> 'touched' & 4096, x.value ->> 'confidence', confidence),
       weight = iif(x.value ->> 'touched' & 8192, x.value ->> 'weight', weight),
       metadata = iif(x.value ->> 'touched' & 16384, x.value ->> 'metadata', metadata),
       updated_at = iif(x.value ->> 'touched' & 65536, x.value ->> 'updated_at', updated_at)
  from json_each(?2) x
 where relationships.id = x.value ->> 'id'
   and +relationships.namespace_id = ?1   -- the plus keeps the planner on the key: by namespace it would read all of it per row
