-- queries/profiles/upsert.sql
insert into dream_profile (space_id, dream_summary, updated_at)
select ?1, value ->> 'dream_summary', value ->> 'updated_at'
  from json_each(?2)
 where true
on conflict (space_id) do update
   set dream_summary = excluded.dream_summary, updated_at = excluded.updated_at
