-- queries/drainers/renew.sql
update dream_drainer set until = ?3 where namespace_id = ?1 and epoch = ?2 and holder is not null
