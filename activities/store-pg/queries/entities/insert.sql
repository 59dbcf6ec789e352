-- queries/entities/insert.sql
-- A vector is bound as a stretch of one long array: arrays of arrays must be rectangular, and as text each would be spelled
-- and read digit by digit.
insert into entities (id, namespace_id, name, entity_type, description, attributes, source_document_ids, source_chunk_ids,
                      mention_count, embedding_model, embedding, valid_until, confidence, metadata, created_at, updated_at)
select x.id, $1, x.name, coalesce(x.entity_type, 'CONCEPT'), coalesce(x.description, ''), coalesce(x.attributes::jsonb, '{}'),
       coalesce(x.source_document_ids::uuid[], '{}'), coalesce(x.source_chunk_ids::uuid[], '{}'),
       coalesce(x.mention_count, 1)::integer, coalesce(x.embedding_model, ''),
       ($15::real[])[x.vector_from : x.vector_to]::vector, x.valid_until, coalesce(x.confidence, 1.0),
       coalesce(x.metadata::jsonb, '{}'), x.created_at, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[],
              $11::timestamptz[], $12::double precision[], $13::text[], $14::timestamptz[], $16::timestamptz[],
              $17::integer[], $18::integer[])
       as x (id, name, entity_type, description, attributes, source_document_ids, source_chunk_ids, mention_count,
             embedding_model, valid_until, confidence, metadata, created_at, updated_at, vector_from, vector_to)
