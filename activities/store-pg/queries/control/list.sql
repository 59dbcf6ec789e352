-- queries/control/list.sql
select namespace_id, by_whom, why, set_at from dream.control order by namespace_id nulls first
