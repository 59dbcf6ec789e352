-- queries/entities/names.sql
select id, name, coalesce(entity_type, 'CONCEPT') as entity_type
  from entities
 where id in (select value from json_each(?1))
