-- queries/leases/renew.sql
-- The fence, the renewal and the run's sign of life in one statement.
--
-- The update takes the lease's row lock and keeps it until the transaction ends. An attempt with another epoch, and anybody
-- who wants to take the target, waits behind it and then finds what this one left; PostgreSQL tests the condition anew on the
-- row as it then stands, so one that waited with an old epoch matches nothing. `for share` would fence as well, but two
-- attempts could hold it at once, and each would then wait for the other to renew. The lease is locked before the run,
-- here and everywhere.
with lease as (
    update dream.lease
       set expires_at = clock_timestamp() + make_interval(secs => $5)
     where realm = $1 and namespace_id = $2 and epoch = $3 and run_id = $4
    returning run_id, clock_timestamp() as now
), run as (
    update dream.run r
       set heartbeat_at = lease.now
      from lease
     where r.run_id = lease.run_id
)
select now from lease
