-- queries/leases/find.sql
select epoch, run_id, holder, purpose, expires_at from dream_lease where realm = ?1 and namespace_id = ?2
