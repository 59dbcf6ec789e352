-- queries/profiles/upsert.sql
insert into dream.profile (space_id, dream_summary, updated_at)
select $1, x.dream_summary, x.updated_at
  from unnest($2::uuid[], $3::text[], $4::timestamptz[])
       as x (id, dream_summary, updated_at)
on conflict (space_id) do update
   set dream_summary = excluded.dream_summary, updated_at = excluded.updated_at
