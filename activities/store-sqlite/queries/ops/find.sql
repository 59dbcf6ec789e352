-- queries/ops/find.sql
select run_id, seq, draft, state, reason, numbers, review, applied_at, undone_at from dream_op where op_id = ?1
