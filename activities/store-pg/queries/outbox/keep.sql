-- queries/outbox/keep.sql
-- The batch and what each row met in it. A row that does not wait any more is left alone, and missed by whoever counts.
update dream.outbox o
   set batch = $2, answer = x.answer
  from unnest($3::bigint[], $4::uuid[], $5::text[], $6::text[]) as x (id, op_id, direction, answer)
 where o.id = x.id
   and o.op_id = x.op_id
   and o.direction = x.direction
   and o.state = 'open'
   and o.namespace_id = $1
