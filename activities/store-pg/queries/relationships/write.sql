-- queries/relationships/write.sql
-- The final images of touched relationships; a column is written only where its bit is set in `touched`.
update relationships r
   set source_entity_id = case when x.touched & 1 <> 0 then x.source_entity_id else r.source_entity_id end,
       target_entity_id = case when x.touched & 2 <> 0 then x.target_entity_id else r.target_entity_id end,
       description = case when x.touched & 8 <> 0 then x.description else r.description end,
       properties = case when x.touched & 16 <> 0 then x.properties::jsonb else r.properties end,
       source_document_ids = case when x.touched & 32 <> 0 then x.source_document_ids::uuid[] else r.source_document_ids end,
       source_chunk_ids = case when x.touched & 64 <> 0 then x.source_chunk_ids::uuid[] else r.source_chunk_ids end,
       invalidated_at = case when x.touched & 1024 <> 0 then x.invalidated_at else r.invalidated_at end,
       invalidated_by = case when x.touched & 2048 <> 0 then x.invalidated_by else r.invalidated_by end,
       confidence = case when x.touched & 4096 <> 0 then x.confidence else r.confidence end,
       weight = case when x.touched & 8192 <> 0 then x.weight else r.weight end,
       metadata = case when x.touched & 16384 <> 0 then x.metadata::jsonb else r.metadata end,
       updated_at = case when x.touched & 65536 <> 0 then x.updated_at else r.updated_at end
  from unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::timestamptz[], $11::uuid[], $12::double precision[], $13::double precision[], $14::text[],
              $15::timestamptz[])
       as x (id, touched, source_entity_id, target_entity_id, description, properties, source_document_ids,
             source_chunk_ids, invalidated_at, invalidated_by, confidence, weight, metadata, updated_at)
 where r.id = x.id and r.namespace_id = $1
