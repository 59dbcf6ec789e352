-- queries/ops/skip_rest.sql
update dream_op set state = 'skipped', reason = ?2 where run_id = ?1 and state = 'sealed'
