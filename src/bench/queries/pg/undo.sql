-- queries/pg/undo.sql
select array_agg(op_id order by seq) as op_id, array_agg(seq order by seq) as seq, array_agg(record order by seq) as record,
       array_agg(applied_at order by seq) as applied_at
  from dream.undo
 where run_id = $1
