-- queries/drainers/release.sql
update dream.drainer set holder = null, until = null where namespace_id = $1 and epoch = $2
