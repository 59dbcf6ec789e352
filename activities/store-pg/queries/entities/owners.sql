-- queries/entities/owners.sql
-- Who owns these names and types already.
select e.id, e.name, coalesce(e.entity_type, 'CONCEPT') as entity_type
  from unnest($2::text[], $3::text[]) as x (name, entity_type)
  join entities e on e.namespace_id = $1 and e.name = x.name and e.entity_type = x.entity_type
