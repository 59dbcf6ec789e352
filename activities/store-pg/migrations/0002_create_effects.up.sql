-- What ops did, written in the transaction that did it. No foreign keys, for the reason given at dream.op.
create table dream.undo (
    op_id uuid primary key,
    id bigint not null generated always as identity,   -- the order in which ops were applied, by no clock
    run_id uuid not null,
    seq integer not null,
    record text not null,
    applied_at timestamptz not null,
    undone_at timestamptz
);
create index undo_by_run on dream.undo (run_id, seq);

-- Which op changed which row: for row histories, undo dependencies and forgetting.
create table dream.touched (
    table_name text not null,
    row_id uuid not null,
    run_id uuid not null,
    seq integer not null,
    primary key (row_id, run_id, seq, table_name)
);
create index touched_by_op on dream.touched (run_id, seq);

-- What the graph database must be told, in the order of the ids.
create table dream.outbox (
    id bigint generated always as identity primary key,
    namespace_id uuid not null,
    run_id uuid not null,
    op_id uuid not null,
    direction text not null,   -- apply or undo
    verbs text not null,
    state text not null,       -- open, done, parked, or no_graph where no graph database is configured
    attempts integer not null default 0,
    next_at timestamptz,
    reason text,
    written_at timestamptz not null
);
create index outbox_open on dream.outbox (namespace_id, id) where state = 'open';
create index outbox_by_run on dream.outbox (run_id);

create table dream.verdict (
    namespace_id uuid not null,
    low bytea not null,
    high bytea not null,
    ruling text not null,
    by_person boolean not null,
    decided_at timestamptz not null,
    primary key (namespace_id, low, high)
);

create table dream.alias (
    absorbed_id uuid primary key,
    namespace_id uuid not null,
    canonical_id uuid not null,
    name text not null,
    entity_type text not null,
    mention_count_seen bigint not null,
    absorbed_by uuid not null
);
create index alias_by_canonical on dream.alias (canonical_id);
create index alias_by_namespace on dream.alias (namespace_id);

create table dream.baseline (
    namespace_id uuid not null,
    kind text not null,
    run_id uuid not null,
    payload text not null,
    primary key (namespace_id, kind)
);

create table dream.answer (
    question bytea primary key,
    model text not null,
    vector bytea not null,     -- little-endian 32-bit floats
    answered_at timestamptz not null
);
