-- queries/control/set.sql
insert into dream.control (namespace_id, by_whom, why, set_at) values ($1, $2, $3, clock_timestamp())
on conflict (namespace_id) do update set by_whom = excluded.by_whom, why = excluded.why, set_at = excluded.set_at
