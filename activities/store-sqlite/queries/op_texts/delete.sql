-- queries/op_texts/delete.sql
delete from dream_op_text where run_id = ?1
