-- queries/facts/upsert.sql
insert into dream.fact (id, space_id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at,
                        updated_at, expires_at, superseded_by, source)
select x.id, $1, x.subject, x.text, x.tier, x.origin, x.pinned, x.recall_count, x.last_recalled_at, x.created_at,
       x.updated_at, x.expires_at, x.superseded_by, x.source
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[],
              $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::uuid[], $14::text[])
       as x (id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, created_at, updated_at,
             expires_at, superseded_by, source)
on conflict (id) do update
   set subject = excluded.subject, text = excluded.text, tier = excluded.tier, origin = excluded.origin,
       pinned = excluded.pinned, recall_count = excluded.recall_count, last_recalled_at = excluded.last_recalled_at,
       created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at,
       superseded_by = excluded.superseded_by, source = excluded.source
 where dream.fact.space_id = excluded.space_id   -- a row of another space is not touched
