-- queries/runs/forgettable.sql
-- Which of these runs are still closed, with nobody at work on them and nothing that waits; those of Khora's, which have no
-- row here, are closed.
select run_id
  from (select run_id
          from dream.run
         where run_id = any ($1)
           and finished_at is not null
           for update) own
 where not exists (select 1 from dream.lease l where l.run_id = own.run_id)
   and not exists (select 1 from dream.outbox o where o.run_id = own.run_id and o.state in ('open', 'parked'))
union all
select o.run_id
  from dream.outbox o
 where o.run_id = any ($1)
   and not exists (select 1 from dream.run own where own.run_id = o.run_id)
 group by o.run_id
having bool_and(o.state not in ('open', 'parked'))
