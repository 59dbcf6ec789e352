-- queries/runs/open.sql
select run_id, state, waiting_for is not null as is_waiting, heartbeat_at
  from dream.run
 where realm = $1 and namespace_id = $2 and finished_at is null
