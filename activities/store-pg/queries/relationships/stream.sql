-- queries/relationships/stream.sql
-- Live relationships for the planners.
select id, source_entity_id, target_entity_id, coalesce(relationship_type, 'RELATES_TO') as relationship_type
  from relationships
 where namespace_id = $1
   and valid_to is null and invalidated_at is null
   and (valid_until is null or valid_until > $2)
