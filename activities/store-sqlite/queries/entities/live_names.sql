-- queries/entities/live_names.sql
select id, name, coalesce(entity_type, 'CONCEPT') as entity_type
  from entities
 where +namespace_id = ?1   -- by key, not by namespace
   and id in (select value from json_each(?3))
   and (valid_until is null or datetime(valid_until) > datetime(?2))
