-- queries/spaces/insert.sql
insert into dream.space (id, name, time_zone, dream_mode, created_at)
values ($1, $2, $3, $4, clock_timestamp())
