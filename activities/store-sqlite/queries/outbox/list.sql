-- queries/outbox/list.sql
-- Rows in the order of the queue.
select id, run_id, op_id, direction, verbs, state, attempts, next_at, reason, batch, written_at
  from dream_outbox
 where (?1 is null or namespace_id = ?1)
   and (?2 is null or run_id = ?2)
   and (json_array_length(?3) = 0 or state in (select value from json_each(?3)))
   and id > ?4
 order by id
 limit ?5
