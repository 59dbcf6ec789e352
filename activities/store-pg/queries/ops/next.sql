-- queries/ops/next.sql
-- The ops of the next group: sealed ones in their order, with the rest of the last one's cluster. Locked, waiting: a retry
-- after a commit of unknown outcome sees here what came of it.
with next as (
    select seq, cluster from dream.op where run_id = $1 and state = 'sealed' and seq <= $2 order by seq limit $3
),
last as (select seq, cluster from next order by seq desc limit 1)
select o.seq, o.draft, o.state, o.reason, o.review
  from dream.op o
 where o.run_id = $1 and o.state = 'sealed'
   and o.seq >= (select min(seq) from next)
   and (o.seq <= (select seq from last) or ($4 and o.seq <= $2 and o.cluster = (select cluster from last)))
 order by o.seq
   for update of o
