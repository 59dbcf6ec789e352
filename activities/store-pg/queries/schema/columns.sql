-- queries/schema/columns.sql
-- Every table that an unqualified name can mean here, with its columns.
select c.relname::text as table_name, a.attname::text as column_name
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
   and c.relname = any ($1)
