-- queries/sqlite/seal.sql
-- The ops of a run as they stood before they were carried out.
insert into dream_op (run_id, seq, op_id, content_key, cluster, kind, draft, state)
select run_id, seq, op_id, content_key, cluster, kind, draft, 'sealed'
  from done.dream_op
 where run_id = ?1 and applied_at is not null
 order by seq
