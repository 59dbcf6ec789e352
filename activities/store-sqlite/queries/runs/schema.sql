-- queries/runs/schema.sql
-- Every table of the file with its columns.
select m.name, c.name
  from sqlite_schema m
  join pragma_table_info(m.name) c
 where m.type = 'table'
