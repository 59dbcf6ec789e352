-- queries/actions/upsert.sql
insert into dream_action (id, space_id, text, status, expires_at, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'text', value ->> 'status', value ->> 'expires_at', value ->> 'created_at',
       value ->> 'updated_at'
  from json_each(?2)
 where true
on conflict (id) do update
   set text = excluded.text, status = excluded.status, expires_at = excluded.expires_at,
       created_at = excluded.created_at, updated_at = excluded.updated_at
 where dream_action.space_id = excluded.space_id   -- a row of another space is not touched
