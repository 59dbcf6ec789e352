-- queries/verdicts/list.sql
select low, high, ruling from dream_verdict where namespace_id = ?1 order by low, high
