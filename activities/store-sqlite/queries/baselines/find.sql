-- queries/baselines/find.sql
select payload from dream_baseline where namespace_id = ?1 and kind = ?2
