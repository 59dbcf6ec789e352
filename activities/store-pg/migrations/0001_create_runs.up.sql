-- Dream Worker's own tables, all in one schema, so that Khora's tables beside them are never altered and ours are gone
-- with `drop schema dream cascade`.
create schema if not exists dream;

-- One row: what this store is.
create table dream.meta (
    id integer primary key check (id = 1),
    text_key bytea not null   -- secret under which memory text is digested; never leaves the store
);

-- Who holds a target. One row per target, for ever, so that its epoch never goes back. Rows are updated with every group
-- and every heartbeat: room is left in their pages, so that such an update touches no index.
create table dream.lease (
    realm text not null,
    namespace_id uuid not null,
    epoch bigint not null,
    run_id uuid,              -- null while nobody holds it
    holder text,
    purpose text,             -- run or undo
    expires_at timestamptz,
    primary key (realm, namespace_id)
) with (fillfactor = 50);

create table dream.run (
    run_id uuid primary key,
    realm text not null,
    namespace_id uuid not null,          -- row id: what content rows carry
    stable_namespace_id uuid not null,   -- what callers hold
    mode text not null,
    trigger text not null,
    engine text not null,
    workflow_id text,
    state text not null,
    waiting_for text,                    -- review or pause; such a run holds no lease
    as_of timestamptz not null,
    started_at timestamptz not null,
    heartbeat_at timestamptz not null,
    sealed_at timestamptz,
    finished_at timestamptz,
    input text not null,
    settings text not null,
    plan_hash text,
    audit_hash text,
    ops_total integer not null default 0,
    skip_reasons text not null default '[]',
    last_committed_seq integer not null default 0,
    error_code text,
    report_path text,
    manifest_sha256 text,
    review_until timestamptz
) with (fillfactor = 70);
create index run_by_namespace on dream.run (namespace_id, started_at desc);
create index run_by_start on dream.run (started_at desc, run_id desc);
create index run_open on dream.run (realm, namespace_id) where finished_at is null;

-- Steps that are done, with the epoch of the attempt that did them: drafts of other attempts count for nothing.
create table dream.step (
    run_id uuid not null references dream.run on delete cascade,
    name text not null,
    epoch bigint not null,
    summary text not null,
    primary key (run_id, name)
);

create table dream.finding (
    run_id uuid not null references dream.run on delete cascade,
    kind text not null,
    ordinal integer not null,
    payload text not null,
    primary key (run_id, kind, ordinal)
);

-- Drafts and ops come and go by the hundred thousand, written and swept by this program alone, so they carry no foreign key:
-- a check per row would cost more than the row.
create table dream.draft (
    run_id uuid not null,
    planner text not null,
    epoch bigint not null,
    content_key bytea not null,
    payload text not null,
    primary key (run_id, planner, epoch, content_key)
);

create table dream.op (
    run_id uuid not null,
    seq integer not null,
    op_id uuid not null,
    content_key bytea not null,
    cluster uuid not null,
    kind text not null,
    state text not null,
    reason text,
    draft text not null,
    numbers text,
    review boolean,           -- accepted, rejected, or unsaid
    applied_at timestamptz,
    undone_at timestamptz,
    primary key (run_id, seq)
) with (fillfactor = 80);
create unique index op_by_id on dream.op (op_id);
create index op_by_content on dream.op (run_id, content_key);
-- What is still to be done. Nothing else is indexed by state, so that settling an op adds to no index.
create index op_sealed on dream.op (run_id, seq) where state = 'sealed';

create table dream.request (
    run_id uuid not null references dream.run on delete cascade,
    kind text not null,
    by_whom text not null,
    plan_hash text,
    requested_at timestamptz not null,
    primary key (run_id, kind)
);

-- The kill switch: of a namespace, or of the whole store where none is named.
create table dream.control (
    namespace_id uuid,
    by_whom text not null,
    why text not null,
    set_at timestamptz not null,
    unique nulls not distinct (namespace_id)
);
