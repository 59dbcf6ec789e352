-- queries/op_texts/find.sql
select digest, body
  from dream_op_text
 where run_id = ?1 and digest in (select value from json_each(?2))
