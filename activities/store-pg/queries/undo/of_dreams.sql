-- queries/undo/of_dreams.sql
-- What undo needs of ops that wrote digests, records or the profile of a space.
select u.op_id, u.record
  from dream.undo u
  join dream.run r on r.run_id = u.run_id and r.realm = 'space' and r.namespace_id = $1
 where ($2::uuid is null or u.op_id > $2)
   and exists (select 1
                 from dream.touched t
                where t.run_id = u.run_id and t.seq = u.seq and t.table_name in ('journal', 'records', 'profiles'))
 order by u.op_id
 limit $3
