-- queries/spaces/find.sql
select s.id, s.name, s.time_zone, s.dream_mode, s.created_at, s.last_used_at,
       (select max(r.started_at) from dream_run r where r.realm = 'space' and r.namespace_id = s.id and r.mode <> 'dry-run')
           as last_dream_started_at
  from dream_space s
 where s.id = ?1
