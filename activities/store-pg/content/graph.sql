-- The content tables of the graph realm, for a database that Khora has not made: the subset that dreams touch, with Khora's
-- names, types and constraints, and those of its indexes that dreams use.
--
-- `vector` carries no length here: the first vector that is imported says how long those of this store are.
create extension if not exists vector;

create table if not exists memory_namespaces (
    id uuid primary key,
    version integer not null default 1,
    is_active boolean not null default true,
    config_overrides jsonb default '{}',
    sync_checkpoints jsonb default '{}',
    metadata jsonb default '{}',
    created_at timestamptz default now(),
    updated_at timestamptz default now(),
    tenancy_mode varchar(64) not null default 'shared',
    namespace_id uuid not null,
    constraint uq_namespace_stable_id_version unique (namespace_id, version)
);
create unique index if not exists idx_namespace_stable_active on memory_namespaces (namespace_id) where is_active;

create table if not exists documents (
    id uuid primary key,
    namespace_id uuid not null references memory_namespaces (id) on delete cascade,
    content text not null,
    status varchar(64) default 'pending',
    source_type varchar(64) not null default 'library',
    metadata jsonb default '{}',
    created_at timestamptz not null default now(),
    updated_at timestamptz default now()
);
create index if not exists ix_documents_namespace_id on documents (namespace_id);

create table if not exists chunks (
    id uuid primary key,
    namespace_id uuid not null references memory_namespaces (id) on delete cascade,
    document_id uuid not null references documents (id) on delete cascade,
    content text not null,
    chunk_index integer default 0,
    metadata jsonb default '{}',
    embedding vector,
    embedding_model varchar(128) default '',
    created_at timestamptz default now(),
    source_timestamp timestamptz,
    session_id uuid,
    chunker_info jsonb not null default '{}',
    last_accessed_at timestamptz,
    occurred_at timestamptz
);
create index if not exists ix_chunks_namespace_id on chunks (namespace_id);
create index if not exists ix_chunks_document_id on chunks (document_id);

create table if not exists entities (
    id uuid primary key,
    namespace_id uuid not null references memory_namespaces (id) on delete cascade,
    name varchar(512) not null,
    entity_type varchar(64) default 'CONCEPT',
    description text default '',
    attributes jsonb default '{}',
    source_document_ids uuid[] default '{}',
    source_chunk_ids uuid[] default '{}',
    mention_count integer default 1,
    embedding_model varchar(128) default '',
    valid_from timestamptz,
    embedding vector,
    valid_until timestamptz,
    confidence double precision default 1.0,
    metadata jsonb default '{}',
    created_at timestamptz default now(),
    updated_at timestamptz default now(),
    constraint uq_entities_namespace_name_type unique (namespace_id, name, entity_type)
);
create index if not exists ix_entities_namespace_id on entities (namespace_id);
create index if not exists ix_entities_name on entities (name);

create table if not exists relationships (
    id uuid primary key,
    namespace_id uuid not null references memory_namespaces (id) on delete cascade,
    source_entity_id uuid not null references entities (id) on delete cascade,
    target_entity_id uuid not null references entities (id) on delete cascade,
    relationship_type varchar(64) default 'RELATES_TO',
    description text default '',
    properties jsonb default '{}',
    source_document_ids uuid[] default '{}',
    source_chunk_ids uuid[] default '{}',
    valid_from timestamptz,
    valid_until timestamptz,
    confidence double precision default 1.0,
    weight double precision default 1.0,
    metadata jsonb default '{}',
    created_at timestamptz default now(),
    updated_at timestamptz default now(),
    valid_to timestamptz,
    invalidated_at timestamptz,
    invalidated_by uuid
);
create index if not exists ix_relationships_namespace_id on relationships (namespace_id);
create index if not exists ix_relationships_source_entity_id on relationships (source_entity_id);
create index if not exists ix_relationships_target_entity_id on relationships (target_entity_id);
