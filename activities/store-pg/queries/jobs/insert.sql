-- queries/jobs/insert.sql
-- A question that was asked stays as it was, unless it was forgotten.
insert into dream.job (run_id, body, asked_at)
values ($1, $2, $3)
on conflict (run_id) do update
   set body = excluded.body, asked_at = excluded.asked_at
 where dream.job.body is null
