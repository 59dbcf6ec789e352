-- What is needed to tell the graph database: who tells it, and what it held before.

-- Who drains the outbox of a namespace. One row per namespace, for ever, so that its epoch never goes back: the graph has seen
-- it too. The row is updated with every heartbeat: room is left in its page, so that such an update touches no index.
create table dream.drainer (
    namespace_id uuid primary key,
    epoch bigint not null,
    holder text,              -- null while nobody holds it
    until timestamptz         -- null with it
) with (fillfactor = 50);

-- What the graph held before an op, as far as the op touched it: committed here before the graph is written. That of an op
-- that was carried out stays for its undo. No foreign key, for the reason given at dream.op.
create table dream.graph_record (
    op_id uuid not null,
    direction text not null,  -- apply or undo
    namespace_id uuid not null,
    run_id uuid not null,
    record text not null,
    written_at timestamptz not null,
    primary key (op_id, direction)
);
create index graph_record_by_run on dream.graph_record (run_id);

-- Rows that were kept for a batch of which nobody has noted yet whether the graph committed it carry its id. A row's state is
-- open, parked, done, dropped, or no_graph where no graph database was configured. Verbs of older rows, all of them no_graph,
-- are written in another format, and nobody reads them.
alter table dream.outbox
    add column batch uuid,
    add column answer text;   -- what the op met in the graph: done, already or missing

-- Rows that are not done, in the order of the queue. It serves for the open ones alone as well.
drop index dream.outbox_open;
create index outbox_waiting on dream.outbox (namespace_id, id) where state in ('open', 'parked');
create index outbox_by_batch on dream.outbox (batch) where batch is not null;

-- Outbox rows of a run that its graph database had not been told of when the run was closed.
alter table dream.run add column graph_left integer not null default 0;

-- Rows that wait since before there was anybody to read them: their format is gone, and the graph was never told.
update dream.outbox set state = 'no_graph' where state = 'open';
