-- queries/drainers/take.sql
-- Takes it if nobody holds it, or if the holder's time is over. Every taking is a new epoch, so that whoever held it before
-- is a stranger from now on. Of two that come at once the second waits for the first one's row, and then finds it held.
insert into dream.drainer (namespace_id, epoch, holder, until)
values ($1, 1, $2, clock_timestamp() + make_interval(secs => $3))
on conflict (namespace_id) do update
   set epoch = drainer.epoch + 1, holder = excluded.holder, until = clock_timestamp() + make_interval(secs => $3)
 where drainer.until is null or drainer.until <= clock_timestamp()
returning epoch
