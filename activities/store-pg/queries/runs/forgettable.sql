-- queries/runs/forgettable.sql
-- Which of these runs are still closed, with nobody at work on them and nothing that waits.
select run_id
  from dream.run r
 where run_id = any ($1)
   and finished_at is not null
   and not exists (select 1 from dream.lease l where l.run_id = r.run_id)
   and not exists (select 1 from dream.outbox o where o.run_id = r.run_id and o.state in ('open', 'parked'))
   for update
