-- queries/outbox/owed_by_run.sql
select count(*) filter (where state = 'open') as open, count(*) filter (where state = 'parked') as parked
  from dream_outbox
 where run_id = ?1
   and state in ('open', 'parked')
