-- queries/verdicts/write.sql
-- A run's same_as never replaces keep_apart; what a person said is replaced by a person's word only.
insert into dream_verdict (namespace_id, low, high, ruling, by_person, decided_at)
select ?1, value ->> 'low', value ->> 'high', value ->> 'ruling', ?3, ?4
  from json_each(?2)
 where true
on conflict (namespace_id, low, high) do update
   set ruling = excluded.ruling, by_person = excluded.by_person, decided_at = excluded.decided_at
 where excluded.by_person or not (dream_verdict.by_person or dream_verdict.ruling = 'keep_apart')
