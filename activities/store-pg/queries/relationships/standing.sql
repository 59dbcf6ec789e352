-- queries/relationships/standing.sql
-- Relationships of a range of ids, in their order, where they run, and whether they are live.
select id, invalidated_at is null and (valid_to is null or valid_to > $2) and (valid_until is null or valid_until > $2) as is_live,
       source_entity_id, target_entity_id, coalesce(relationship_type, '') as relationship_type
  from relationships
 where namespace_id = $1 and id >= $3 and id <= $4
 order by id
