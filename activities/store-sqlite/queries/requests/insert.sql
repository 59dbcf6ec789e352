-- queries/requests/insert.sql
insert into dream_request (run_id, kind, by_whom, plan_hash, requested_at)
values (?1, ?2, ?3, ?4, ?5)
on conflict do nothing
