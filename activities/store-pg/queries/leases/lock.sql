-- queries/leases/lock.sql
-- Locked for update: whoever else wants this target, for any purpose, waits here until this transaction ends.
select run_id, holder, expires_at, clock_timestamp() as now
  from dream.lease
 where realm = $1 and namespace_id = $2
   for update
