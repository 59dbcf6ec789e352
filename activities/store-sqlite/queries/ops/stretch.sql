-- queries/ops/stretch.sql
-- The next sealed ops, about ?2 of them, cut between clusters, by kind; and how many are left in all.
with sealed as (select seq, cluster, kind from dream_op where run_id = ?1 and state = 'sealed'),
next as (select seq, cluster from sealed order by seq limit ?2),
last as (select seq, cluster from next order by seq desc limit 1),
stretch as (
    select seq, kind
      from sealed
     where seq <= (select seq from last)
        or cluster = (select cluster from last) and seq > (select seq from last)
)
select kind, count(*) as count, min(seq) as seq_from, max(seq) as seq_to, (select count(*) from sealed) as ops_left
  from stretch
 group by kind
