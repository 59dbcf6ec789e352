-- queries/job_answers/insert.sql
-- Checked and written at once: the run is open, its question stands, and no other answer does.
insert into dream_job_answer (run_id, digest, verdict, problem, body, answered_at)
select ?1, ?2, ?3, ?4, ?5, ?6
 where exists (select 1
                 from dream_run r
                 join dream_job j on j.run_id = r.run_id
                where r.run_id = ?1 and r.finished_at is null and j.body is not null)
   and not exists (select 1 from dream_job_answer a where a.run_id = ?1 and a.verdict = 'accepted')
on conflict do nothing
