-- queries/locks/dreams.sql
-- Both locks under which Khora itself would dream over this namespace, in sorted order; never waits.
select pg_try_advisory_xact_lock($1) and pg_try_advisory_xact_lock($2) as is_ours
