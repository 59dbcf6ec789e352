-- queries/baselines/find.sql
select payload from dream.baseline where namespace_id = $1 and kind = $2
