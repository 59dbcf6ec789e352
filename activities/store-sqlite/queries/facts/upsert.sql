-- queries/facts/upsert.sql
insert into dream_fact (id, space_id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at,
                        updated_at, expires_at, superseded_by, source)
select value ->> 'id', ?1, value ->> 'subject', value ->> 'text', value ->> 'tier', value ->> 'origin',
       value ->> 'pinned', value ->> 'recall_count', value ->> 'last_recalled_at', value ->> 'created_at',
       value ->> 'updated_at', value ->> 'expires_at', value ->> 'superseded_by', value ->> 'source'
  from json_each(?2)
 where true
on conflict (id) do update
   set subject = excluded.subject, text = excluded.text, tier = excluded.tier, origin = excluded.origin,
       pinned = excluded.pinned, recall_count = excluded.recall_count, last_recalled_at = excluded.last_recalled_at,
       created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at,
       superseded_by = excluded.superseded_by, source = excluded.source
 where dream_fact.space_id = excluded.space_id   -- a row of another space is not touched
