-- queries/steps/done.sql
insert into dream_step (run_id, name, epoch, summary) values (?1, ?2, ?3, ?4)
on conflict (run_id, name) do update set epoch = excluded.epoch, summary = excluded.summary
