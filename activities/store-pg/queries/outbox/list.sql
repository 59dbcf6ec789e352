-- queries/outbox/list.sql
-- Rows in the order of the queue. Parameters are known when the statement is planned, so that rows that wait are found by
-- their own index, and what was told long ago is not passed over row by row.
select id, run_id, op_id, direction, verbs, state, attempts, next_at, reason, batch, written_at
  from dream.outbox
 where ($1::uuid is null or namespace_id = $1)
   and ($2::uuid is null or run_id = $2)
   and (cardinality($3::text[]) = 0 or state = any ($3))
   and id > $4
 order by id
 limit $5
