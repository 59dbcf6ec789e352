-- queries/locks/ingest.sql
-- The lock under which Khora's ingestion writes entities and relationships of a namespace. Waits its turn.
select pg_advisory_xact_lock($1, $2)
