-- queries/chunks/live.sql
-- Which of these chunks exist in the namespace. `chunks_of_store` stands for the chunk tables that this file has.
select c.id
  from chunks_of_store c
 where +c.namespace_id = ?1   -- by key, not by namespace
   and c.id in (select value from json_each(?2))
