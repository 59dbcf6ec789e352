-- The spaces of the realm `space`, and what a run over one asks of a model.

create table dream.space (
    id uuid primary key,
    name text not null,
    time_zone text not null,     -- a name of the IANA database
    dream_mode text not null,    -- client, server or off
    created_at timestamptz not null,
    last_used_at timestamptz     -- by a memory call; a dream is no use
);

-- What is kept of the keys that open a space.
create table dream.space_key (
    key_hash bytea primary key,
    space_id uuid not null references dream.space on delete cascade,
    created_at timestamptz not null
);
create index space_key_by_space on dream.space_key (space_id);

create table dream.fact (
    id uuid primary key,
    space_id uuid not null references dream.space on delete cascade,
    subject text not null,
    text text not null,
    tier text not null,          -- core, long or scratch
    origin text not null,        -- user, agent or dream
    pinned boolean not null,
    recall_count bigint not null,
    last_recalled_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    expires_at timestamptz,
    superseded_by uuid,
    source text
);
create index fact_by_space on dream.fact (space_id, id);

create table dream.journal (
    id uuid primary key,
    space_id uuid not null references dream.space on delete cascade,
    kind text not null,          -- day or week
    starts_on text not null,     -- the day, or the Monday
    text text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index journal_by_space on dream.journal (space_id, id);

create table dream.action (
    id uuid primary key,
    space_id uuid not null references dream.space on delete cascade,
    text text not null,
    status text not null,        -- pending, approved, done, rejected or expired
    expires_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index action_by_space on dream.action (space_id, id);

create table dream.key_value (
    id uuid primary key,
    space_id uuid not null references dream.space on delete cascade,
    key text not null,
    body text not null,
    expires_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index key_value_by_space on dream.key_value (space_id, id);

create table dream.record (
    id uuid primary key,
    space_id uuid not null references dream.space on delete cascade,
    collection text not null,
    body text not null,
    status text,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index record_by_space on dream.record (space_id, id);

create table dream.profile (
    space_id uuid primary key references dream.space on delete cascade,
    dream_summary text,
    updated_at timestamptz not null
);

-- The question of a run: copies of memories, until the run is over or something is forgotten.
create table dream.job (
    run_id uuid primary key references dream.run on delete cascade,
    body text,
    asked_at timestamptz not null
);

-- Its answers. Those that cannot be used are counted and not kept.
create table dream.job_answer (
    run_id uuid not null references dream.run on delete cascade,
    digest bytea not null,        -- keyed: the same answer has the same
    verdict text not null,       -- accepted or bad
    problem text,                -- where a bad one broke
    body text,
    answered_at timestamptz not null,
    primary key (run_id, digest)
);
create unique index job_answer_accepted on dream.job_answer (run_id) where verdict = 'accepted';

-- What ops of a run write, as far as it is memory text: sealed ops hold ids and digests.
create table dream.op_text (
    run_id uuid not null references dream.run on delete cascade,
    digest bytea not null,
    body text not null,
    primary key (run_id, digest)
);
