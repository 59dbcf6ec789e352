-- queries/control/list.sql
select namespace_id, by_whom, why, set_at from dream_control order by namespace_id
