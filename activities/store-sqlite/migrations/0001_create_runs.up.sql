-- Dream Worker's own tables in an embedded file. Khora's tables are never altered; ours carry the prefix dream_.
-- Ids are 32 hexadecimal digits, as in Khora's content tables. Moments are ISO 8601 in UTC with six decimals.

-- One row: what this store is.
create table dream_meta (
    id integer primary key check (id = 1),
    text_key blob not null   -- secret under which memory text is digested; never leaves the store
);

-- Who holds a target. One row per target, for ever, so that its epoch never goes back.
create table dream_lease (
    realm text not null,
    namespace_id text not null,
    epoch integer not null,
    run_id text,             -- null while nobody holds it
    holder text,
    purpose text,            -- run or undo
    expires_at text,
    primary key (realm, namespace_id)
);

create table dream_run (
    run_id text primary key,
    realm text not null,
    namespace_id text not null,          -- row id: what content rows carry
    stable_namespace_id text not null,   -- what callers hold
    mode text not null,
    trigger text not null,
    engine text not null,
    workflow_id text,
    state text not null,
    waiting_for text,                    -- review or pause; such a run holds no lease
    as_of text not null,
    started_at text not null,
    heartbeat_at text not null,
    sealed_at text,
    finished_at text,
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
    review_until text
);
create index dream_run_by_namespace on dream_run (namespace_id, started_at desc);
create index dream_run_open on dream_run (namespace_id) where finished_at is null;

-- Steps that are done, with the epoch of the attempt that did them: drafts of other attempts count for nothing.
create table dream_step (
    run_id text not null references dream_run on delete cascade,
    name text not null,
    epoch integer not null,
    summary text not null,
    primary key (run_id, name)
);

create table dream_finding (
    run_id text not null references dream_run on delete cascade,
    kind text not null,
    ordinal integer not null,
    payload text not null,
    primary key (run_id, kind, ordinal)
);

create table dream_draft (
    run_id text not null references dream_run on delete cascade,
    planner text not null,
    epoch integer not null,
    content_key text not null,
    payload text not null,
    primary key (run_id, planner, epoch, content_key)
);

create table dream_op (
    run_id text not null references dream_run on delete cascade,
    seq integer not null,
    op_id text not null unique,
    content_key text not null,
    cluster text not null,
    kind text not null,
    state text not null,
    reason text,
    draft text not null,
    numbers text,
    review integer,          -- 1 accepted, 0 rejected, null unsaid
    applied_at text,
    undone_at text,
    primary key (run_id, seq)
);
create index dream_op_by_content on dream_op (run_id, content_key);
create index dream_op_by_state on dream_op (run_id, kind, state);

create table dream_request (
    run_id text not null references dream_run on delete cascade,
    kind text not null,
    by_whom text not null,
    plan_hash text,
    requested_at text not null,
    primary key (run_id, kind)
);

-- The kill switch: '' for the whole store, else a namespace.
create table dream_control (
    namespace_id text primary key,
    by_whom text not null,
    why text not null,
    set_at text not null
);
