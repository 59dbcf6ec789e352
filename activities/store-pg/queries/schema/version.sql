-- queries/schema/version.sql
select current_setting('server_version') as version, to_regclass('dream.migrations') is not null as has_migrations
