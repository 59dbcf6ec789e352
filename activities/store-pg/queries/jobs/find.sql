-- queries/jobs/find.sql
select j.run_id, r.namespace_id, j.body, j.asked_at, a.digest as accepted, a.body as answer,
       (select count(*) from dream.job_answer b where b.run_id = j.run_id and b.verdict = 'bad') as answers_bad
  from dream.job j
  join dream.run r on r.run_id = j.run_id
  left join dream.job_answer a on a.run_id = j.run_id and a.verdict = 'accepted'
 where j.run_id = $1
