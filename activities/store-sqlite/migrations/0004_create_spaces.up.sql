-- The spaces of the realm `space`, and what a run over one asks of a model. Spelled as everything else here: ids as 32
-- hexadecimal digits, moments as ISO 8601 in UTC.

create table dream_space (
    id text primary key,
    name text not null,
    time_zone text not null,     -- a name of the IANA database
    dream_mode text not null,    -- client, server or off
    created_at text not null,
    last_used_at text            -- by a memory call; a dream is no use
);

-- What is kept of the keys that open a space.
create table dream_space_key (
    key_hash blob primary key,
    space_id text not null references dream_space on delete cascade,
    created_at text not null
);
create index dream_space_key_by_space on dream_space_key (space_id);

create table dream_fact (
    id text primary key,
    space_id text not null references dream_space on delete cascade,
    subject text not null,
    text text not null,
    tier text not null,          -- core, long or scratch
    origin text not null,        -- user, agent or dream
    pinned boolean not null,
    recall_count integer not null,
    last_recalled_at text,
    created_at text not null,
    updated_at text not null,
    expires_at text,
    superseded_by text,
    source text
);
create index dream_fact_by_space on dream_fact (space_id, id);

create table dream_journal (
    id text primary key,
    space_id text not null references dream_space on delete cascade,
    kind text not null,          -- day or week
    starts_on text not null,     -- the day, or the Monday
    text text not null,
    created_at text not null,
    updated_at text not null
);
create index dream_journal_by_space on dream_journal (space_id, id);

create table dream_action (
    id text primary key,
    space_id text not null references dream_space on delete cascade,
    text text not null,
    status text not null,        -- pending, approved, done, rejected or expired
    expires_at text,
    created_at text not null,
    updated_at text not null
);
create index dream_action_by_space on dream_action (space_id, id);

create table dream_key_value (
    id text primary key,
    space_id text not null references dream_space on delete cascade,
    key text not null,
    body text not null,
    expires_at text,
    created_at text not null,
    updated_at text not null
);
create index dream_key_value_by_space on dream_key_value (space_id, id);

create table dream_record (
    id text primary key,
    space_id text not null references dream_space on delete cascade,
    collection text not null,
    body text not null,
    status text,
    created_at text not null,
    updated_at text not null
);
create index dream_record_by_space on dream_record (space_id, id);

create table dream_profile (
    space_id text primary key references dream_space on delete cascade,
    dream_summary text,
    updated_at text not null
);

-- The question of a run: copies of memories, until the run is over or something is forgotten.
create table dream_job (
    run_id text primary key references dream_run on delete cascade,
    body text,
    asked_at text not null
);

-- Its answers. Those that cannot be used are counted and not kept.
create table dream_job_answer (
    run_id text not null references dream_run on delete cascade,
    digest text not null,        -- keyed: the same answer has the same
    verdict text not null,       -- accepted or bad
    problem text,                -- where a bad one broke
    body text,
    answered_at text not null,
    primary key (run_id, digest)
);
create unique index dream_job_answer_accepted on dream_job_answer (run_id) where verdict = 'accepted';

-- What ops of a run write, as far as it is memory text: sealed ops hold ids and digests.
create table dream_op_text (
    run_id text not null references dream_run on delete cascade,
    digest text not null,
    body text not null,
    primary key (run_id, digest)
);
