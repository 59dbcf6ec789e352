-- queries/jobs/insert.sql
-- A question that was asked stays as it was.
insert into dream_job (run_id, body, asked_at)
values (?1, ?2, ?3)
on conflict do nothing
