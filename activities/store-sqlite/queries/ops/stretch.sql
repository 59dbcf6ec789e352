-- queries/ops/stretch.sql
-- The next sealed ops, about ?2 of them, cut between clusters, by kind; and how many are left in all. Bounded as in next.sql.
with next as (
    select seq, cluster
      from dream_op
     where run_id = ?1 and state = 'sealed'
       and seq > (select last_committed_seq from dream_run where run_id = ?1)
     order by seq
     limit ?2
),
last as (select seq, cluster from next order by seq desc limit 1),
behind as (
    select o.seq
      from dream_op o
     where o.run_id = ?1 and o.state = 'sealed' and o.seq > (select seq from last)
       and o.cluster <> (select cluster from last)
     order by o.seq
     limit 1
),
stretch as (
    select seq, kind
      from dream_op
     where run_id = ?1 and state = 'sealed'
       and seq >= (select min(seq) from next)
       and seq < coalesce((select seq from behind), 2147483647)
)
select kind, count(*) as count, min(seq) as seq_from, max(seq) as seq_to,
       (select count(*) from dream_op where run_id = ?1 and state = 'sealed' and seq >= (select min(seq) from next)) as ops_left
  from stretch
 group by kind
