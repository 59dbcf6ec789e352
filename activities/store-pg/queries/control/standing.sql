-- queries/control/standing.sql
-- What stands against going on: the kill switch, the store's own first, and the requests of the run.
select s.by_whom is not null as is_stopped, s.namespace_id, s.by_whom, s.why, s.set_at,
       exists (select 1 from dream.request r where r.run_id = $1 and r.kind = 'cancel') as cancel,
       exists (select 1 from dream.request r where r.run_id = $1 and r.kind = 'pause') as pause
  from (select 1) always
  left join (select namespace_id, by_whom, why, set_at
               from dream.control
              where namespace_id is null or namespace_id = $2
              order by namespace_id nulls first
              limit 1) s on true
