-- queries/records/upsert.sql
insert into dream_record (id, space_id, collection, body, status, created_at, updated_at)
select value ->> 'id', ?1, value ->> 'collection', value ->> 'body', value ->> 'status', value ->> 'created_at',
       value ->> 'updated_at'
  from json_each(?2)
 where true
on conflict (id) do update
   set collection = excluded.collection, body = excluded.body, status = excluded.status,
       created_at = excluded.created_at, updated_at = excluded.updated_at
 where dream_record.space_id = excluded.space_id   -- a row of another space is not touched
