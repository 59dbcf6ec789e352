-- queries/ops/next.sql
-- The ops of the next group: sealed ones in their order, with the rest of the last one's cluster, which stands right behind
-- it. Everything up to the checkpoint is settled: with that bound, and one at the end, a group costs no more in a long run
-- than in a short one.
with next as (
    select seq, cluster
      from dream_op
     where run_id = ?1 and state = 'sealed' and seq <= ?2
       and seq > (select last_committed_seq from dream_run where run_id = ?1)
     order by seq
     limit ?3
),
last as (select seq, cluster from next order by seq desc limit 1),
behind as (
    select o.seq
      from dream_op o
     where o.run_id = ?1 and o.state = 'sealed' and o.seq > (select seq from last)
       and o.cluster <> (select cluster from last)
     order by o.seq
     limit 1
)
select o.seq, o.draft, o.state, o.reason, o.review
  from dream_op o
 where o.run_id = ?1 and o.state = 'sealed' and o.seq <= ?2
   and o.seq >= (select min(seq) from next)
   and o.seq < iif(?4, coalesce((select seq from behind), 2147483647), (select seq from last) + 1)
 order by o.seq
