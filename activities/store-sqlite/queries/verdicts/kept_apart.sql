-- Which of these pairs of names stay two.
select v.low, v.high
  from json_each(?2) as pair
  join dream_verdict as v
    on v.namespace_id = ?1 and v.low = pair.value ->> 0 and v.high = pair.value ->> 1
 where v.ruling = 'keep_apart'
