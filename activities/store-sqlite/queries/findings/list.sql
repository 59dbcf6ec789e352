-- queries/findings/list.sql
select kind, ordinal, payload from dream_finding where run_id = ?1 order by kind, ordinal
