-- queries/facts/recall.sql
update dream_fact
   set recall_count = recall_count + 1, last_recalled_at = ?3
 where id in (select value from json_each(?2)) and +space_id = ?1
