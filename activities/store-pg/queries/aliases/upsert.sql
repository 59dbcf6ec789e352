-- queries/aliases/upsert.sql
insert into dream.alias (absorbed_id, namespace_id, name, entity_type, canonical_id, mention_count_seen, absorbed_by)
select x.id, $1, x.name, coalesce(x.entity_type, 'CONCEPT'), x.canonical_id, x.mention_count_seen, x.absorbed_by
  from unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::bigint[], $7::uuid[])
       as x (id, name, entity_type, canonical_id, mention_count_seen, absorbed_by)
on conflict (absorbed_id) do update
   set canonical_id = excluded.canonical_id, mention_count_seen = excluded.mention_count_seen,
       absorbed_by = excluded.absorbed_by
