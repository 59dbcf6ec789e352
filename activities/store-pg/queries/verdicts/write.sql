-- queries/verdicts/write.sql
-- A run's same_as never replaces keep_apart; what a person said is replaced by a person's word only.
insert into dream.verdict (namespace_id, low, high, ruling, by_person, decided_at)
select $1, x.low, x.high, x.ruling, $5, clock_timestamp()
  from unnest($2::bytea[], $3::bytea[], $4::text[]) as x (low, high, ruling)
on conflict (namespace_id, low, high) do update
   set ruling = excluded.ruling, by_person = excluded.by_person, decided_at = excluded.decided_at
 where excluded.by_person or not (verdict.by_person or verdict.ruling = 'keep_apart')
