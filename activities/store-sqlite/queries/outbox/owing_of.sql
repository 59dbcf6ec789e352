-- queries/outbox/owing_of.sql
-- What one namespace has that is not done. One open row that may be told at once is enough for its namespace to be tried at once.
select namespace_id, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'parked') as parked,
       min(written_at) as oldest,
       iif(count(*) filter (where state = 'open' and next_at is null) > 0, null, min(next_at) filter (where state = 'open')) as next_at
  from dream_outbox
 where state in ('open', 'parked')
   and namespace_id = ?1
 group by namespace_id
