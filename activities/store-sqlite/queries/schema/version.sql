-- queries/schema/version.sql
select sqlite_version() as version
