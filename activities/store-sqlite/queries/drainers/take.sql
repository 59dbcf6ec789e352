-- queries/drainers/take.sql
-- Takes it if nobody holds it, or if the holder's time is over. Every taking is a new epoch, so that whoever held it before
-- is a stranger from now on.
insert into dream_drainer (namespace_id, epoch, holder, until) values (?1, 1, ?2, ?4)
on conflict (namespace_id) do update
   set epoch = epoch + 1, holder = excluded.holder, until = excluded.until
 where until is null or until <= ?3
returning epoch
