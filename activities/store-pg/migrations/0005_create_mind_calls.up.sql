-- The account of the calls of a model that the worker asks itself, and the answers that wait for their run to take them in.

-- A row is written before its call is made. It outlives its run, because the budget of a day does.
create table dream.mind_call (
    run_id uuid not null,
    call integer not null,           -- 1, 2, … within the run
    space_id uuid not null references dream.space on delete cascade,
    day bigint not null,             -- in UTC, since 1970-01-01
    model text not null,
    outcome text not null,           -- reserved, answered, bad, refused or unanswered
    tokens_reserved bigint not null,
    tokens_input bigint,             -- null: nobody said, so what was reserved counts
    tokens_output bigint,
    times_reused integer not null,
    problem text,
    called_at timestamptz not null,
    primary key (run_id, call)
);
create index mind_call_by_day on dream.mind_call (space_id, day);

-- Copies of memories, until the run is over or something is forgotten.
create table dream.mind_answer (
    space_id uuid not null references dream.space on delete cascade,
    question bytea not null,         -- a keyed digest of model, instructions, input and schema
    run_id uuid not null references dream.run on delete cascade,
    call integer not null,
    body text not null,
    answered_at timestamptz not null,
    primary key (space_id, question)
);
create index mind_answer_by_run on dream.mind_answer (run_id);
