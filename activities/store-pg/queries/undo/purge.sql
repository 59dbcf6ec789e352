-- queries/undo/purge.sql
-- What undo needs of runs over spaces that ended before a moment.
delete from dream.undo
 where run_id in (select run_id from dream.run where realm = 'space' and finished_at < $1)
