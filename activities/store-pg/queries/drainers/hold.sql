-- queries/drainers/hold.sql
-- The fence. The row stays locked until the transaction ends, so that nobody takes the queue over meanwhile; shared, as a
-- drainer may write two things at once, and only its renewal waits.
select epoch from dream.drainer where namespace_id = $1 and epoch = $2 and holder is not null for share
