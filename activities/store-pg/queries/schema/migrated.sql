-- queries/schema/migrated.sql
select count(*) as count from dream.migrations where success
