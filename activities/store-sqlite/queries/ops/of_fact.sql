-- queries/ops/of_fact.sql
-- The ops on a space that name a fact, in the order in which they were applied, with what undo needs of them. Looked for in
-- the ops themselves: a fact that absorbed another one without a change of its own is not among the touched rows.
select o.op_id, o.state, o.draft, u.record
  from dream_run r
  join dream_op o on o.run_id = r.run_id
  left join dream_undo u on u.op_id = o.op_id
 where r.realm = 'space' and r.namespace_id = ?1 and o.state in ('applied', 'undone') and instr(o.draft, ?2) > 0
 order by u.rowid   -- null comes first
