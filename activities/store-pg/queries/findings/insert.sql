-- queries/findings/insert.sql
insert into dream.finding (run_id, kind, ordinal, payload)
select $1, x.kind, x.ordinal, x.payload
  from unnest($2::text[], $3::integer[], $4::text[]) as x (kind, ordinal, payload)
