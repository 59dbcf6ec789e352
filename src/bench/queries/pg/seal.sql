-- queries/pg/seal.sql
-- The ops of a run as they stood before they were carried out.
insert into dream.op (run_id, seq, op_id, content_key, cluster, kind, draft, state)
select $1, x.seq, x.op_id, x.content_key, x.cluster, x.kind, x.draft, 'sealed'
  from unnest($2, $3, $4, $5, $6, $7) as x (seq, op_id, content_key, cluster, kind, draft)
