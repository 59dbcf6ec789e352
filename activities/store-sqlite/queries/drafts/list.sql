-- queries/drafts/list.sql
select d.payload
  from dream_draft d
  join dream_step s on s.run_id = d.run_id and s.name = 'plan:' || d.planner and s.epoch = d.epoch
 where d.run_id = ?1 and (?2 is null or d.planner = ?2)
 order by d.content_key
