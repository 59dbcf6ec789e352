-- queries/findings/insert.sql
insert into dream_finding (run_id, kind, ordinal, payload)
select ?1, value ->> 'kind', value ->> 'ordinal', value ->> 'payload'
  from json_each(?2)
