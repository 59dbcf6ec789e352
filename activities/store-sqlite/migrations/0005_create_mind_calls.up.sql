-- The account of the calls of a model that the worker asks itself, and the answers that wait for their run to take them in.

-- A row is written before its call is made. It outlives its run, because the budget of a day does.
create table dream_mind_call (
    run_id text not null,
    call integer not null,           -- 1, 2, … within the run
    space_id text not null references dream_space on delete cascade,
    day integer not null,            -- in UTC, since 1970-01-01
    model text not null,
    outcome text not null,           -- reserved, answered, bad, refused or unanswered
    tokens_reserved integer not null,
    tokens_input integer,            -- null: nobody said, so what was reserved counts
    tokens_output integer,
    times_reused integer not null,
    problem text,
    called_at text not null,
    primary key (run_id, call)
);
create index dream_mind_call_by_day on dream_mind_call (space_id, day);

-- Copies of memories, until the run is over or something is forgotten.
create table dream_mind_answer (
    space_id text not null references dream_space on delete cascade,
    question text not null,          -- a keyed digest of model, instructions, input and schema
    run_id text not null references dream_run on delete cascade,
    call integer not null,
    body text not null,
    answered_at text not null,
    primary key (space_id, question)
);
create index dream_mind_answer_by_run on dream_mind_answer (run_id);
