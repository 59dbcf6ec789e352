-- queries/touched/built_upon_by.sql
-- Runs that changed rows of this run (of one op, if given) after it did, and whose changes stand. What came later is told by
-- the order of the undo records: a run that started earlier may have waited and gone on afterwards.
select distinct later.run_id
  from dream.touched mine
  join dream.op own on own.run_id = mine.run_id and own.seq = mine.seq and own.state = 'applied'
  join dream.undo mine_undo on mine_undo.op_id = own.op_id
  join dream.touched later on later.row_id = mine.row_id and later.table_name = mine.table_name and later.run_id <> mine.run_id
  join dream.op o on o.run_id = later.run_id and o.seq = later.seq and o.state = 'applied'
  join dream.undo later_undo on later_undo.op_id = o.op_id and later_undo.id > mine_undo.id
 where mine.run_id = $1
   and ($2::integer is null or mine.seq = $2)
 order by later.run_id
