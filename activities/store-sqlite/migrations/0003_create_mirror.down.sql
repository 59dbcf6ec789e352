drop index dream_outbox_by_run;
drop index dream_outbox_by_batch;
drop index dream_outbox_waiting;
create index dream_outbox_open on dream_outbox (namespace_id, id) where state = 'open';
alter table dream_outbox drop column answer;
alter table dream_outbox drop column batch;
drop table dream_graph_record;
drop table dream_drainer;
alter table dream_run drop column graph_left;
