-- queries/journal/upsert.sql
insert into dream_journal (id, space_id, kind, starts_on, text, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'kind', value ->> 'starts_on', value ->> 'text', value ->> 'created_at',
       value ->> 'updated_at'
  from json_each(?2)
 where true
on conflict (id) do update
   set kind = excluded.kind, starts_on = excluded.starts_on, text = excluded.text, created_at = excluded.created_at,
       updated_at = excluded.updated_at
 where dream_journal.space_id = excluded.space_id   -- a row of another space is not touched
