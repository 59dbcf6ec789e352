-- queries/drafts/insert.sql
insert into dream.draft (run_id, planner, epoch, content_key, payload)
select $1, $2, $3, x.content_key, x.payload
  from unnest($4::bytea[], $5::text[]) as x (content_key, payload)
on conflict do nothing
