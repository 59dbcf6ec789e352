-- queries/drafts/insert.sql
insert into dream_draft (run_id, planner, epoch, content_key, payload)
select ?1, ?2, ?3, value ->> 'content_key', value ->> 'payload'
  from json_each(?4)
 where true
on conflict do nothing
