-- queries/mind_answers/insert.sql
-- An answer to a question that was forgotten meanwhile is not kept.
insert into dream_mind_answer (space_id, question, run_id, call, body, answered_at)
select $1, $2, $3, $4, $5, $6
 where exists (select 1 from dream_job j where j.run_id = $3 and j.body is not null)
on conflict (space_id, question) do update
   set run_id = excluded.run_id, call = excluded.call, body = excluded.body, answered_at = excluded.answered_at
