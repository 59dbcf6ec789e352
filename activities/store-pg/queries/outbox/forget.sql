-- queries/outbox/forget.sql
update dream.outbox set batch = null, answer = null where batch = $2 and namespace_id = $1
