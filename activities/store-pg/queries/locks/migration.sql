-- queries/locks/migration.sql
-- Two workers that start at once bring the tables up to date one after the other.
select pg_advisory_xact_lock($1)
