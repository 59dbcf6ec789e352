-- queries/leases/take.sql
-- Every taking is a new epoch, so that whoever held the target before is a stranger from now on.
update dream.lease
   set epoch = epoch + 1, run_id = $3, holder = $4, purpose = $5, expires_at = clock_timestamp() + make_interval(secs => $6)
 where realm = $1 and namespace_id = $2
returning epoch
