-- queries/leases/release.sql
update dream.lease
   set run_id = null, holder = null, purpose = null, expires_at = null
 where realm = $1 and namespace_id = $2 and run_id = $3 and ($4::bigint is null or epoch = $4)
