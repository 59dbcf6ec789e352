-- queries/chunks/insert.sql
insert into chunks (id, namespace_id, document_id, content, created_at, last_accessed_at)
select value ->> 'id', ?1, value ->> 'document_id', value ->> 'content', value ->> 'created_at',
       value ->> 'last_accessed_at'
  from json_each(?2)
