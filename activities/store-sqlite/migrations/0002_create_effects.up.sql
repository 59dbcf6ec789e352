-- What ops did, written in the transaction that did it.

create table dream_undo (
    op_id text primary key references dream_op (op_id) on delete cascade,
    run_id text not null,
    seq integer not null,
    record text not null,
    applied_at text not null,
    undone_at text
);
create index dream_undo_by_run on dream_undo (run_id, seq);

-- Which op changed which row: for row histories, undo dependencies and forgetting.
create table dream_touched (
    table_name text not null,
    row_id text not null,
    run_id text not null,
    seq integer not null,
    primary key (table_name, row_id, run_id, seq)
) without rowid;
create index dream_touched_by_op on dream_touched (run_id, seq);

-- What the graph database must be told, in the order of the ids.
create table dream_outbox (
    id integer primary key autoincrement,
    namespace_id text not null,
    run_id text not null,
    op_id text not null,
    direction text not null,   -- apply or undo
    verbs text not null,
    state text not null,       -- open, done, parked, or no_graph where no graph database is configured
    attempts integer not null default 0,
    next_at text,
    reason text,
    written_at text not null
);
create index dream_outbox_open on dream_outbox (namespace_id, id) where state = 'open';

create table dream_verdict (
    namespace_id text not null,
    low text not null,
    high text not null,
    ruling text not null,
    by_person integer not null,
    decided_at text not null,
    primary key (namespace_id, low, high)
) without rowid;

create table dream_alias (
    absorbed_id text primary key,
    namespace_id text not null,
    canonical_id text not null,
    name text not null,
    entity_type text not null,
    mention_count_seen integer not null,
    absorbed_by text not null
);
create index dream_alias_by_canonical on dream_alias (canonical_id);
create index dream_alias_by_namespace on dream_alias (namespace_id);

create table dream_baseline (
    namespace_id text not null,
    kind text not null,
    run_id text not null,
    payload text not null,
    primary key (namespace_id, kind)
);

create table dream_answer (
    question text primary key,
    model text not null,
    vector blob not null,
    answered_at text not null
);

-- Vectors of entities: this kind of file has no column for them. Little-endian 32-bit floats.
create table dream_embedding (
    entity_id text primary key,
    namespace_id text not null,
    vector blob not null
);
create index dream_embedding_by_namespace on dream_embedding (namespace_id);
