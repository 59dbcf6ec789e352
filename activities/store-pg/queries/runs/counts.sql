-- queries/runs/counts.sql
select kind, state, count(*) as count from dream.op where run_id = $1 group by kind, state
