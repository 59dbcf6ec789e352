-- queries/runs/set_end_state.sql
update dream_run set state = ?2 where run_id = ?1 and finished_at is not null
