-- queries/schema/migrated.sql
select count(*) as count from dream_migrations where success
