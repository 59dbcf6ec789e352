-- queries/runs/sweepable.sql
-- Closed runs that are too old, or too many for their namespace, but never one that somebody takes back or whose outbox
-- rows still wait. Of a run of Khora's only what the graph was told of it is here: it is never one too many.
select run_id, report_path
  from (select run_id, report_path, started_at,
               row_number() over (partition by namespace_id order by started_at desc, run_id desc) as place
          from dream.run
         where finished_at is not null
        union all
        select o.run_id, null, max(o.written_at), 0
          from dream.outbox o
         where not exists (select 1 from dream.run own where own.run_id = o.run_id)
         group by o.run_id) r
 where (started_at < $1 or place > $2)
   and not exists (select 1 from dream.outbox o where o.run_id = r.run_id and o.state in ('open', 'parked'))
   and r.run_id not in (select run_id from dream.lease where run_id is not null)
 order by started_at
 limit $3
