-- queries/verdicts/list.sql
select low, high, ruling from dream.verdict where namespace_id = $1 order by low, high
