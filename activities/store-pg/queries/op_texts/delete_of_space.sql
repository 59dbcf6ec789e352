-- queries/op_texts/delete_of_space.sql
delete from dream.op_text
 where run_id in (select run_id from dream.run where realm = 'space' and namespace_id = $1)
