-- queries/leases/renew.sql
update dream_lease
   set expires_at = ?5
 where realm = ?1 and namespace_id = ?2 and epoch = ?3 and run_id = ?4
