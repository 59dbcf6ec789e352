-- queries/aliases/upsert.sql
insert into dream_alias (absorbed_id, namespace_id, name, entity_type, canonical_id, mention_count_seen, absorbed_by)
select value ->> 'id', ?1, value ->> 'name', coalesce(value ->> 'entity_type', 'CONCEPT'), value ->> 'canonical_id',
       value ->> 'mention_count_seen', value ->> 'absorbed_by'
  from json_each(?2)
 where true
on conflict (absorbed_id) do update
   set canonical_id = excluded.canonical_id, mention_count_seen = excluded.mention_count_seen,
       absorbed_by = excluded.absorbed_by
