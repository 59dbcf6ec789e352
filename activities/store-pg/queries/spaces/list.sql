-- queries/spaces/list.sql
select s.id, s.name, s.time_zone, s.dream_mode, s.created_at, s.last_used_at,
       (select max(r.started_at) from dream.run r where r.realm = 'space' and r.namespace_id = s.id and r.mode <> 'dry-run')
           as last_dream_started_at
  from dream.space s
 where $1::uuid is null or s.id > $1
 order by s.id
 limit $2
