-- queries/drafts/list.sql
-- Only those of the attempt that published.
select d.payload
  from dream.draft d
  join dream.step s on s.run_id = d.run_id and s.name = 'plan:' || d.planner and s.epoch = d.epoch
 where d.run_id = $1 and ($2::text is null or d.planner = $2)
 order by d.content_key
