drop index dream.outbox_by_batch;
drop index dream.outbox_waiting;
create index outbox_open on dream.outbox (namespace_id, id) where state = 'open';
alter table dream.outbox
    drop column answer,
    drop column batch;
drop table dream.graph_record;
drop table dream.drainer;
alter table dream.run drop column graph_left;
