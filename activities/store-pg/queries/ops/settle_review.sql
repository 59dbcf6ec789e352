-- queries/ops/settle_review.sql
-- The plan of a run that waits for review: what was rejected is not done.
update dream.op
   set state = 'skipped', reason = 'rejected'
 where run_id = $1 and state = 'sealed' and ($2 or review = false)
   and exists (select 1 from dream.run r where r.run_id = $1 and r.state = 'awaiting_review' and r.finished_at is null)
