-- The content tables of the graph realm, for a file that Khora has not made: the subset that dreams touch, with Khora's
-- names, types and constraints.
create table if not exists memory_namespaces (
    id varchar(36) not null primary key,
    version integer not null default 1,
    is_active boolean not null default 1,
    config_overrides json default '{}',
    sync_checkpoints json default '{}',
    metadata json default '{}',
    created_at datetime default current_timestamp,
    updated_at datetime default current_timestamp,
    tenancy_mode varchar(64) not null default 'shared',
    namespace_id text not null,
    constraint uq_namespace_stable_id_version unique (namespace_id, version)
);

create table if not exists documents (
    id varchar(36) not null primary key,
    namespace_id varchar(36) not null references memory_namespaces (id) on delete cascade,
    content text not null,
    status varchar(64) default 'pending',
    source_type varchar(64) not null default 'library',
    metadata json default '{}',
    created_at datetime not null default current_timestamp,
    updated_at datetime default current_timestamp
);

create table if not exists chunks (
    id varchar(36) not null primary key,
    namespace_id varchar(36) not null references memory_namespaces (id) on delete cascade,
    document_id varchar(36) not null references documents (id) on delete cascade,
    content text not null,
    chunk_index integer default 0,
    metadata json default '{}',
    embedding_model varchar(128) default '',
    created_at datetime default current_timestamp,
    source_timestamp datetime,
    session_id char(32),
    chunker_info json not null default '{}',
    last_accessed_at datetime,
    occurred_at datetime
);
create index if not exists ix_chunks_namespace_id on chunks (namespace_id);

create table if not exists entities (
    id varchar(36) not null primary key,
    namespace_id varchar(36) not null references memory_namespaces (id) on delete cascade,
    name varchar(512) not null,
    entity_type varchar(64) default 'CONCEPT',
    description text default '',
    attributes json default '{}',
    source_document_ids json default '[]',
    source_chunk_ids json default '[]',
    mention_count integer default 1,
    embedding_model varchar(128) default '',
    valid_from datetime,
    valid_until datetime,
    confidence float default 1.0,
    metadata json default '{}',
    created_at datetime default current_timestamp,
    updated_at datetime default current_timestamp,
    constraint uq_entities_namespace_name_type unique (namespace_id, name, entity_type)
);
create index if not exists ix_entities_namespace_id on entities (namespace_id);

create table if not exists relationships (
    id varchar(36) not null primary key,
    namespace_id varchar(36) not null references memory_namespaces (id) on delete cascade,
    source_entity_id varchar(36) not null references entities (id) on delete cascade,
    target_entity_id varchar(36) not null references entities (id) on delete cascade,
    relationship_type varchar(64) default 'RELATES_TO',
    description text default '',
    properties json default '{}',
    source_document_ids json default '[]',
    source_chunk_ids json default '[]',
    valid_from datetime,
    valid_until datetime,
    confidence float default 1.0,
    weight float default 1.0,
    metadata json default '{}',
    created_at datetime default current_timestamp,
    updated_at datetime default current_timestamp,
    valid_to datetime,
    invalidated_at datetime,
    invalidated_by char(32)
);
create index if not exists ix_relationships_namespace_id on relationships (namespace_id);
create index if not exists ix_relationships_entities on relationships (source_entity_id, target_entity_id);
create index if not exists ix_relationships_source_entity_id on relationships (source_entity_id);
create index if not exists ix_relationships_target_entity_id on relationships (target_entity_id);
