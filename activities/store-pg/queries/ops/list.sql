-- queries/ops/list.sql
select seq, draft, state, reason, numbers, review, applied_at, undone_at
  from dream.op
 where run_id = $1 and seq > $2
   and ($3::text is null or kind = $3)
   and ($4::text[] is null or state = any ($4))
 order by seq
 limit $5
