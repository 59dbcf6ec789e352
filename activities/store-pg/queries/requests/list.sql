-- queries/requests/list.sql
select kind, by_whom, plan_hash from dream.request where run_id = $1 order by kind
