-- queries/ops/list.sql
select seq, draft, state, reason, numbers, review, applied_at, undone_at
  from dream_op
 where run_id = ?1 and seq > ?2
   and (?3 is null or kind = ?3)
   and (?4 is null or state in (select value from json_each(?4)))
 order by seq
 limit ?5
