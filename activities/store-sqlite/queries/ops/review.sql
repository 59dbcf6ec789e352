-- queries/ops/review.sql
update dream_op
   set review = ?3
 where run_id = ?1 and state = 'sealed' and seq in (select value from json_each(?2))
   and exists (select 1 from dream_run r where r.run_id = ?1 and r.state = 'awaiting_review' and r.finished_at is null)
