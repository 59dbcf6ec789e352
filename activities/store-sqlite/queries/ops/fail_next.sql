-- queries/ops/fail_next.sql
update dream_op
   set state = 'failed', reason = ?2
 where run_id = ?1 and seq = (select min(seq) from dream_op where run_id = ?1 and state = 'sealed')
