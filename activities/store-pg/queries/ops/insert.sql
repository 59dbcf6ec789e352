-- queries/ops/insert.sql
insert into dream.op (run_id, seq, op_id, content_key, cluster, kind, state, reason, draft)
select $1, x.seq, x.op_id, x.content_key, x.cluster, x.kind, x.state, x.reason, x.draft
  from unnest($2::integer[], $3::uuid[], $4::bytea[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[])
       as x (seq, op_id, content_key, cluster, kind, state, reason, draft)
