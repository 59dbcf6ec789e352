-- queries/schema/columns.sql
-- Every table of the file with its columns.
select m.name as table_name, c.name as column_name
  from sqlite_schema m
  join pragma_table_info(m.name) c
 where m.type = 'table'
