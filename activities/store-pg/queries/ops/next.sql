-- queries/ops/next.sql
-- The ops of the next group: sealed ones in their order, with the rest of the last one's cluster, which stands right behind
-- it. Locked, waiting: a retry after a commit of unknown outcome sees here what came of it.
--
-- Everything up to the checkpoint is settled. Without that bound the search would walk over what earlier groups have left
-- of it in the index, and without one at the end over all that is still to come.
with next as (
    select seq, cluster
      from dream.op
     where run_id = $1 and state = 'sealed' and seq <= $2
       and seq > (select last_committed_seq from dream.run where run_id = $1)
     order by seq
     limit $3
),
last as (select seq, cluster from next order by seq desc limit 1),
behind as (
    select o.seq
      from dream.op o
     where o.run_id = $1 and o.state = 'sealed'
       and o.seq > (select seq from last) and o.cluster <> (select cluster from last)
     order by o.seq
     limit 1
)
select o.seq, o.draft, o.state, o.reason, o.review
  from dream.op o
 where o.run_id = $1 and o.state = 'sealed' and o.seq <= $2
   and o.seq >= (select min(seq) from next)
   and o.seq < case when $4 then coalesce((select seq from behind), 2147483647) else (select seq from last) + 1 end
 order by o.seq
   for update of o
