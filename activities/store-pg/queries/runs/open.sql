-- queries/runs/open.sql
-- The last sign of life of a run that waits for a client is the moment at which it asked, however often it was looked at since.
select r.run_id, r.state, r.waiting_for is not null as is_waiting,
       coalesce((select j.asked_at from dream.job j where j.run_id = r.run_id and r.state = 'awaiting_client'),
                r.heartbeat_at) as heartbeat_at
  from dream.run r
 where r.realm = $1 and r.namespace_id = $2 and r.finished_at is null
