-- queries/ops/review.sql
update dream.op
   set review = $3
 where run_id = $1 and state = 'sealed' and seq = any ($2)
   and exists (select 1 from dream.run r where r.run_id = $1 and r.state = 'awaiting_review' and r.finished_at is null)
