-- queries/runs/sweepable.sql
-- Closed runs that are too old, or too many for their namespace, but never one that somebody takes back or whose outbox
-- rows still wait.
select run_id, report_path
  from (select run_id, report_path, started_at,
               row_number() over (partition by namespace_id order by started_at desc, run_id desc) as place
          from dream.run
         where finished_at is not null) r
 where (started_at < $1 or place > $2)
   and not exists (select 1 from dream.outbox o where o.run_id = r.run_id and o.state in ('open', 'parked'))
   and r.run_id not in (select run_id from dream.lease where run_id is not null)
 order by started_at
 limit $3
