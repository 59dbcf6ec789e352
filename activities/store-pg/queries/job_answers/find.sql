-- queries/job_answers/find.sql
select a.verdict,
       (select count(*) from dream.job_answer b where b.run_id = a.run_id and b.verdict = 'bad') as answers_bad
  from dream.job_answer a
 where a.run_id = $1 and a.digest = $2
