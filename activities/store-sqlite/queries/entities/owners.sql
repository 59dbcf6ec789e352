-- queries/entities/owners.sql
-- Who owns these names and types already.
select e.id, e.name, e.entity_type
  from json_each(?2) x
  join entities e on e.namespace_id = ?1 and e.name = x.value ->> 0 and e.entity_type = x.value ->> 1
