-- queries/requests/insert.sql
insert into dream.request (run_id, kind, by_whom, plan_hash, requested_at)
values ($1, $2, $3, $4, clock_timestamp())
on conflict do nothing
