-- queries/entities/write.sql
-- The final images of touched entities; a column is written only where its bit is set in `touched`. Name and type are not
-- among them: no op changes those. A vector is bound as a stretch of one long array, see insert.sql.
update entities e
   set description = case when x.touched & 4 <> 0 then x.description else e.description end,
       attributes = case when x.touched & 8 <> 0 then x.attributes::jsonb else e.attributes end,
       source_document_ids = case when x.touched & 16 <> 0 then x.source_document_ids::uuid[] else e.source_document_ids end,
       source_chunk_ids = case when x.touched & 32 <> 0 then x.source_chunk_ids::uuid[] else e.source_chunk_ids end,
       mention_count = case when x.touched & 64 <> 0 then x.mention_count::integer else e.mention_count end,
       embedding = case when x.touched & 128 <> 0 then ($13::real[])[x.vector_from : x.vector_to]::vector else e.embedding end,
       embedding_model = case when x.touched & 256 <> 0 then x.embedding_model else e.embedding_model end,
       valid_until = case when x.touched & 512 <> 0 then x.valid_until else e.valid_until end,
       confidence = case when x.touched & 1024 <> 0 then x.confidence else e.confidence end,
       metadata = case when x.touched & 2048 <> 0 then x.metadata::jsonb else e.metadata end,
       updated_at = case when x.touched & 8192 <> 0 then x.updated_at else e.updated_at end
  from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[],
              $10::timestamptz[], $11::double precision[], $12::text[], $14::timestamptz[], $15::integer[], $16::integer[])
       as x (id, touched, description, attributes, source_document_ids, source_chunk_ids, mention_count, embedding_model,
             valid_until, confidence, metadata, updated_at, vector_from, vector_to)
 where e.id = x.id and e.namespace_id = $1
