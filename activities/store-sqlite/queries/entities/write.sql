-- queries/entities/write.sql
-- The final images of touched entities; a column is written only where its bit is set in `touched`. Name and type are not
-- among them: no op changes those.
update entities
   set
       description = iif(x.value ->> 'touched' & 4, x.value ->> 'description', description),
       attributes = iif(x.value ->> 'touched' & 8, x.value ->> 'attributes', attributes),
       source_document_ids = iif(x.value ->> 'touched' & 16, x.value ->> 'source_document_ids', source_document_ids),
       source_chunk_ids = iif(x.value ->> 'touched' & 32, x.value ->> 'source_chunk_ids', source_chunk_ids),
       mention_count = iif(x.value ->> 'touched' & 64, x.value ->> 'mention_count', mention_count),
       embedding_model = iif(x.value ->> 'touched' & 256, x.value ->> 'embedding_model', embedding_model),
       valid_until = iif(x.value ->> 'touched' & 512, x.value ->> 'valid_until', valid_until),
       confidence = iif(x.value ->> 'touched' & 1024, x.value ->> 'confidence', confidence),
       metadata = iif(x.value ->> 'touched' & 2048, x.value ->> 'metadata', metadata),
       updated_at = iif(x.value ->> 'touched' & 8192, x.value ->> 'updated_at', updated_at)
  from json_each(?2) x
 where entities.id = x.value ->> 'id'
   and +entities.namespace_id = ?1   -- the plus keeps the planner on the key: by namespace it would read all of it per row
