-- queries/control/find.sql
-- The store's own switch comes first.
select namespace_id, by_whom, why, set_at
  from dream_control
 where namespace_id in ('', ?1)
 order by namespace_id
 limit 1
