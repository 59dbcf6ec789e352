-- queries/op_texts/insert.sql
insert into dream_op_text (run_id, digest, body)
select ?1, value ->> 'digest', value ->> 'body'
  from json_each(?2)
 where true
on conflict do nothing
