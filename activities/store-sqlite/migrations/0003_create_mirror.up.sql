-- What is needed to tell the graph database: who tells it, and what it held before.

-- Who drains the outbox of a namespace. One row per namespace, for ever, so that its epoch never goes back: the graph has seen
-- it too.
create table dream_drainer (
    namespace_id text primary key,
    epoch integer not null,
    holder text,              -- null while nobody holds it
    until text                -- null with it
);

-- What the graph held before an op, as far as the op touched it: committed here before the graph is written. That of an op
-- that was carried out stays for its undo.
create table dream_graph_record (
    op_id text not null,
    direction text not null,  -- apply or undo
    namespace_id text not null,
    run_id text not null,
    record text not null,
    written_at text not null,
    primary key (op_id, direction)
);
create index dream_graph_record_by_run on dream_graph_record (run_id);

-- Rows that were kept for a batch of which nobody has noted yet whether the graph committed it carry its id. A row's state is
-- open, parked, done, dropped, or no_graph where no graph database was configured. Verbs of older rows, all of them no_graph,
-- are written in another format, and nobody reads them.
alter table dream_outbox add column batch text;
alter table dream_outbox add column answer text;   -- what the op met in the graph: done, already or missing

-- Rows that are not done, in the order of the queue. A statement is served by it only if it says its condition word for word.
drop index dream_outbox_open;
create index dream_outbox_waiting on dream_outbox (namespace_id, id) where state in ('open', 'parked');
create index dream_outbox_by_batch on dream_outbox (batch) where batch is not null;
create index dream_outbox_by_run on dream_outbox (run_id);

-- Outbox rows of a run that its graph database had not been told of when the run was closed.
alter table dream_run add column graph_left integer not null default 0;

-- Rows that wait since before there was anybody to read them: their format is gone, and the graph was never told.
update dream_outbox set state = 'no_graph' where state = 'open';
