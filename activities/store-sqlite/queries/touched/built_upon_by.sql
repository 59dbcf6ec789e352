-- queries/touched/built_upon_by.sql
-- Later runs whose standing effects share a row with those of this run (of one op, if given).
select distinct later.run_id
  from dream_touched mine
  join dream_touched later on later.table_name = mine.table_name and later.row_id = mine.row_id
  join dream_op o on o.run_id = later.run_id and o.seq = later.seq and o.state = 'applied'
  join dream_run r on r.run_id = later.run_id
  join dream_run this on this.run_id = mine.run_id
 where mine.run_id = ?1
   and (?2 is null or mine.seq = ?2)
   and later.run_id <> ?1
   and r.started_at >= this.started_at
   and exists (select 1 from dream_op own where own.run_id = mine.run_id and own.seq = mine.seq and own.state = 'applied')
 order by later.run_id
