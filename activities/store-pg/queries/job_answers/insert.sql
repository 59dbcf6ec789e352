-- queries/job_answers/insert.sql
-- Checked and written at once: the run is open, its question stands, and no other answer does.
insert into dream.job_answer (run_id, digest, verdict, problem, body, answered_at)
select $1, $2, $3, $4, $5, clock_timestamp()
 where exists (select 1
                 from dream.run r
                 join dream.job j on j.run_id = r.run_id
                where r.run_id = $1 and r.finished_at is null and j.body is not null)
   and not exists (select 1 from dream.job_answer a where a.run_id = $1 and a.verdict = 'accepted')
on conflict do nothing
