-- queries/records/delete_of_fact.sql
-- Records of ours that speak of a fact. They name it by its id.
delete from dream.record
 where space_id = $1 and collection in ('dream.conflicts', 'dream.proposals') and strpos(body, $2) > 0
