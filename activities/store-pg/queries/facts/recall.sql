-- queries/facts/recall.sql
update dream.fact
   set recall_count = recall_count + 1, last_recalled_at = clock_timestamp()
 where id = any ($2) and space_id = $1
