-- queries/touched/insert.sql
insert into dream_touched (table_name, row_id, run_id, seq)
select value ->> 't', value ->> 'r', ?1, value ->> 's'
  from json_each(?2)
 where true
on conflict do nothing
