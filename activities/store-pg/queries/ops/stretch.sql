-- queries/ops/stretch.sql
-- The next sealed ops, about $2 of them, cut between clusters, by kind; and how many are left in all.
with next as (
    select seq, cluster from dream.op where run_id = $1 and state = 'sealed' order by seq limit $2
),
last as (select seq, cluster from next order by seq desc limit 1),
stretch as (
    select o.seq, o.kind
      from dream.op o, last
     where o.run_id = $1 and o.state = 'sealed' and (o.seq <= last.seq or o.cluster = last.cluster)
)
select kind, count(*) as count, min(seq) as seq_from, max(seq) as seq_to,
       (select count(*) from dream.op where run_id = $1 and state = 'sealed') as ops_left
  from stretch
 group by kind
