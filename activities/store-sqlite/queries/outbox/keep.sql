-- queries/outbox/keep.sql
-- The batch and what each row met in it. A row that does not wait any more is left alone, and missed by whoever counts.
update dream_outbox
   set batch = ?2, answer = x.value ->> 'answer'
  from json_each(?3) x
 where dream_outbox.id = x.value ->> 'id'
   and dream_outbox.op_id = x.value ->> 'op_id'
   and dream_outbox.direction = x.value ->> 'direction'
   and dream_outbox.state = 'open'
   and +dream_outbox.namespace_id = ?1   -- by key, not by namespace
