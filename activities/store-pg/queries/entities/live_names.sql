-- queries/entities/live_names.sql
select id, name, coalesce(entity_type, 'CONCEPT') as entity_type
  from entities
 where namespace_id = $1 and id = any ($3)
   and (valid_until is null or valid_until > $2)
