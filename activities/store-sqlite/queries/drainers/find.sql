-- queries/drainers/find.sql
-- Whether this epoch still holds it. It is asked inside of a write transaction, beside which nobody writes.
select epoch from dream_drainer where namespace_id = ?1 and epoch = ?2 and holder is not null
