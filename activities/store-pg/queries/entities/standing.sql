-- queries/entities/standing.sql
-- Entities of a range of ids, in their order, and whether they are live.
select id, (valid_until is null or valid_until > $2) as is_live
  from entities
 where namespace_id = $1 and id >= $3 and id <= $4
 order by id
