-- queries/op_texts/insert.sql
insert into dream.op_text (run_id, digest, body)
select $1, x.digest, x.body
  from unnest($2::bytea[], $3::text[]) as x (digest, body)
on conflict do nothing
