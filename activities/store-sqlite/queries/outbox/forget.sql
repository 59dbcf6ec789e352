-- queries/outbox/forget.sql
update dream_outbox
   set batch = null, answer = null
 where batch = ?2
   and +namespace_id = ?1   -- by batch, not by namespace
