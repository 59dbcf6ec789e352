-- queries/touched/built_upon_by.sql
-- Later runs whose standing effects share a row with those of this run (of one op, if given).
select distinct later.run_id
  from dream.touched mine
  join dream.touched later on later.row_id = mine.row_id and later.table_name = mine.table_name
  join dream.op o on o.run_id = later.run_id and o.seq = later.seq and o.state = 'applied'
  join dream.run r on r.run_id = later.run_id
  join dream.run this on this.run_id = mine.run_id
 where mine.run_id = $1
   and ($2::integer is null or mine.seq = $2)
   and later.run_id <> $1
   and r.started_at >= this.started_at
   and exists (select 1 from dream.op own where own.run_id = mine.run_id and own.seq = mine.seq and own.state = 'applied')
 order by later.run_id
