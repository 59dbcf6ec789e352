-- queries/pg/ops.sql
-- The ops that a run carried out, as columns: what stands in them, and what became of them.
select array_agg(seq order by seq) as seq, array_agg(op_id order by seq) as op_id,
       array_agg(content_key order by seq) as content_key, array_agg(cluster order by seq) as cluster,
       array_agg(kind order by seq) as kind, array_agg(draft order by seq) as draft,
       array_agg(state order by seq) as state, array_agg(reason order by seq) as reason,
       array_agg(numbers order by seq) as numbers, array_agg(applied_at order by seq) as applied_at
  from dream.op
 where run_id = $1 and applied_at is not null
