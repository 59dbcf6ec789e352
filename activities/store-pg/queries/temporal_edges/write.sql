-- queries/temporal_edges/write.sql
update temporal_edges t
   set source_entity_id = case when x.touched & 1 <> 0 then x.source_entity_id else t.source_entity_id end,
       target_entity_id = case when x.touched & 2 <> 0 then x.target_entity_id else t.target_entity_id end,
       is_valid = case when x.touched & 8 <> 0 then x.is_valid else t.is_valid end
  from unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::boolean[])
       as x (id, touched, source_entity_id, target_entity_id, is_valid)
 where t.id = x.id and t.namespace_id = $1
