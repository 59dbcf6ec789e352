-- queries/runs/forgettable.sql
-- Which of these runs are still closed, with nobody at work on them and nothing that waits; those of Khora's, which have no
-- row here, are closed.
select run_id
  from dream_run
 where run_id in (select value from json_each(?1))
   and finished_at is not null
   and run_id not in (select run_id from dream_lease where run_id is not null)
   and run_id not in (select run_id from dream_outbox where state in ('open', 'parked'))
union
select run_id
  from dream_outbox
 where run_id in (select value from json_each(?1))
   and run_id not in (select run_id from dream_run)
   and run_id not in (select run_id from dream_outbox where state in ('open', 'parked'))
