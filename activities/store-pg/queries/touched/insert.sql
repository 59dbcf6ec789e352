-- queries/touched/insert.sql
insert into dream.touched (table_name, row_id, run_id, seq)
select x.table_name, x.row_id, $1, x.seq
  from unnest($2::text[], $3::uuid[], $4::integer[]) as x (table_name, row_id, seq)
on conflict do nothing
