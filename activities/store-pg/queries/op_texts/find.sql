-- queries/op_texts/find.sql
select digest, body from dream.op_text where run_id = $1 and digest = any ($2)
