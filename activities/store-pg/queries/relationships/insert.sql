-- queries/relationships/insert.sql
insert into relationships (id, namespace_id, source_entity_id, target_entity_id, relationship_type, description, properties,
                           source_document_ids, source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at,
                           invalidated_by, confidence, weight, metadata, created_at, updated_at)
select x.id, $1, x.source_entity_id, x.target_entity_id, coalesce(x.relationship_type, 'RELATES_TO'),
       coalesce(x.description, ''), coalesce(x.properties::jsonb, '{}'), coalesce(x.source_document_ids::uuid[], '{}'),
       coalesce(x.source_chunk_ids::uuid[], '{}'), x.valid_from, x.valid_until, x.valid_to, x.invalidated_at,
       x.invalidated_by, coalesce(x.confidence, 1.0), coalesce(x.weight, 1.0), coalesce(x.metadata::jsonb, '{}'),
       x.created_at, x.updated_at
  from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::uuid[],
              $15::double precision[], $16::double precision[], $17::text[], $18::timestamptz[], $19::timestamptz[])
       as x (id, source_entity_id, target_entity_id, relationship_type, description, properties, source_document_ids,
             source_chunk_ids, valid_from, valid_until, valid_to, invalidated_at, invalidated_by, confidence, weight,
             metadata, created_at, updated_at)
