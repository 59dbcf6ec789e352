-- queries/entities/owners.sql
-- Who owns these names and types already. The cross join keeps the planner from reading the namespace once per name.
select e.id, e.name, e.entity_type
  from json_each(?2) x
  cross join entities e on e.namespace_id = ?1 and e.name = x.value ->> 0 and e.entity_type = x.value ->> 1
