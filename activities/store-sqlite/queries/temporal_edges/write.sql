-- queries/temporal_edges/write.sql
update temporal_edges
   set
       source_entity_id = iif(x.value ->> 'touched' & 1, x.value ->> 'source_entity_id', source_entity_id),
       target_entity_id = iif(x.value ->> 'touched' & 2, x.value ->> 'target_entity_id', target_entity_id),
       is_valid = iif(x.value ->> 'touched' & 8, x.value ->> 'is_valid', is_valid)
  from json_each(?2) x
 where temporal_edges.id = x.value ->> 'id'
   and +temporal_edges.namespace_id = ?1   -- the plus keeps the planner on the key: by namespace it would read all of it per row
