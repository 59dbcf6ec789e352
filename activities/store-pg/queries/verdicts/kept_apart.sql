-- Which of these pairs of names stay two.
select v.low, v.high
  from unnest($2::bytea[], $3::bytea[]) as pair (low, high)
  join dream.verdict as v using (low, high)
 where v.namespace_id = $1 and v.ruling = 'keep_apart'
