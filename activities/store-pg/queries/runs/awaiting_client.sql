-- queries/runs/awaiting_client.sql
select run_id
  from dream.run
 where realm = 'space' and namespace_id = $1 and state = 'awaiting_client' and finished_at is null
