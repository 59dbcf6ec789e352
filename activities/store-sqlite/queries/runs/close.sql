-- queries/runs/close.sql
-- Closing twice is closing once: the first end stands.
update dream_run
   set state = ?2, waiting_for = null, finished_at = ?3, heartbeat_at = ?3, error_code = ?4,
       graph_left = (select count(*) from dream_outbox o where o.run_id = ?1 and o.state in ('open', 'parked'))
 where run_id = ?1 and finished_at is null
