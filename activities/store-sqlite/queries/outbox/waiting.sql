-- queries/outbox/waiting.sql
-- Rows of a namespace that are not done, in the order of the queue. The condition on the state is that of the index, word for
-- word: what was told long ago is never passed over row by row.
select id, run_id, op_id, direction, verbs, state, attempts, next_at, reason, batch, written_at
  from dream_outbox
 where namespace_id = ?1
   and id > ?4
   and state in ('open', 'parked')
   and state in (select value from json_each(?3))
   and (?2 is null or run_id = ?2)
 order by id
 limit ?5
