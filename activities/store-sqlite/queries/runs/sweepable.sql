-- queries/runs/sweepable.sql
-- Closed runs that are too old, or too many for their namespace, but never one that somebody takes back or whose outbox
-- rows still wait. Of a run of Khora's only what the graph was told of it is here: it is never one too many.
select run_id, report_path
  from (select run_id, report_path, started_at,
               row_number() over (partition by namespace_id order by started_at desc, run_id desc) as place
          from dream_run
         where finished_at is not null
        union all
        select run_id, null, max(written_at), 0
          from dream_outbox
         where run_id not in (select run_id from dream_run)
         group by run_id)
 where (started_at < ?1 or place > ?2)
   and run_id not in (select run_id from dream_outbox where state in ('open', 'parked'))
   and run_id not in (select run_id from dream_lease where run_id is not null)
 order by started_at
 limit ?3
