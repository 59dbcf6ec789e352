-- queries/baselines/write.sql
insert into dream_baseline (namespace_id, kind, run_id, payload) values (?1, ?2, ?3, ?4)
on conflict (namespace_id, kind) do update set run_id = excluded.run_id, payload = excluded.payload
