-- queries/op_texts/delete_of_space.sql
delete from dream_op_text
 where run_id in (select run_id from dream_run where realm = 'space' and namespace_id = ?1)
