-- queries/control/set.sql
insert into dream_control (namespace_id, by_whom, why, set_at) values (?1, ?2, ?3, ?4)
on conflict (namespace_id) do update set by_whom = excluded.by_whom, why = excluded.why, set_at = excluded.set_at
