//! The tables of which rows may change, their columns, and what kind of value each holds.
//!
//! **Invariant:** the order of [`Table::columns`] is the order of the bits in which a touched column is told, in every store.
//! A new column stands at the end of its table.

named_variants! {
    /// A table of which rows may change.
    pub enum Table {
        /// Entities of a namespace.
        Entities = "entities",
        /// Relationships between them.
        Relationships = "relationships",
        /// Khora's temporal edges, which follow a merge.
        TemporalEdges = "temporal_edges",
        /// Our record of which name was absorbed by which entity; its row id is the absorbed entity's.
        Aliases = "aliases",
        /// What an agent was told or noted, one sentence each.
        Facts = "facts",
        /// What happened on a day, or in a week.
        Journal = "journal",
        /// What an agent is about to do, or was asked to.
        Actions = "actions",
        /// Values under a key.
        KeyValues = "key_values",
        /// JSON documents in collections; `dream.conflicts` and `dream.proposals` are ours.
        Records = "records",
        /// What a dream says of the owner of a space; its row id is the space's.
        Profiles = "profiles",
    }
}

named_variants! {
    /// A column of one of the tables. The same name means the same thing in each of them.
    pub enum Column {
        /// Display name.
        Name = "name",
        /// Declared or extracted type of an entity.
        EntityType = "entity_type",
        /// Type of a relationship.
        RelationshipType = "relationship_type",
        /// Free text.
        Description = "description",
        /// JSON object of an entity.
        Attributes = "attributes",
        /// JSON object of a relationship.
        Properties = "properties",
        /// Documents the row was extracted from.
        SourceDocumentIds = "source_document_ids",
        /// Chunks the row was extracted from.
        SourceChunkIds = "source_chunk_ids",
        /// How often ingestion met the entity.
        MentionCount = "mention_count",
        /// Vector of the name.
        Embedding = "embedding",
        /// Model that made the vector.
        EmbeddingModel = "embedding_model",
        /// Where an edge starts.
        SourceEntityId = "source_entity_id",
        /// Where an edge ends.
        TargetEntityId = "target_entity_id",
        /// Start of validity.
        ValidFrom = "valid_from",
        /// End of validity; on entities this is retirement.
        ValidUntil = "valid_until",
        /// When Khora pruned an edge.
        ValidTo = "valid_to",
        /// When a dream invalidated an edge.
        InvalidatedAt = "invalidated_at",
        /// The op that did.
        InvalidatedBy = "invalidated_by",
        /// Whether a temporal edge holds.
        IsValid = "is_valid",
        /// 0 to 1.
        Confidence = "confidence",
        /// Strength of an edge.
        Weight = "weight",
        /// JSON object; `aliases` of a survivor live here.
        Metadata = "metadata",
        /// When the row was first written.
        CreatedAt = "created_at",
        /// When the row was last written.
        UpdatedAt = "updated_at",
        /// The survivor an alias points at.
        CanonicalId = "canonical_id",
        /// Mentions of the absorbed entity that its survivor already counts.
        MentionCountSeen = "mention_count_seen",
        /// The op that absorbed it.
        AbsorbedBy = "absorbed_by",
        /// What a fact is about.
        Subject = "subject",
        /// What a fact, an entry or an action says.
        Text = "text",
        /// How near a fact is kept: core, long or scratch.
        Tier = "tier",
        /// Who stated a fact: user, agent or dream.
        Origin = "origin",
        /// Whether nothing but its recalls may change of a fact.
        Pinned = "pinned",
        /// How often a fact was recalled.
        RecallCount = "recall_count",
        /// When it was last.
        LastRecalledAt = "last_recalled_at",
        /// When a row ends by itself.
        ExpiresAt = "expires_at",
        /// The fact that replaced this one.
        SupersededBy = "superseded_by",
        /// Where a fact came from, in its writer's words.
        Source = "source",
        /// Whether an entry is of a day or of a week.
        Kind = "kind",
        /// The day, or the Monday, of an entry, as `YYYY-MM-DD`.
        StartsOn = "starts_on",
        /// Where an action or a record stands.
        Status = "status",
        /// The key of a value.
        Key = "key",
        /// A JSON document.
        Body = "body",
        /// The collection of a record.
        Collection = "collection",
        /// What a dream says of the owner of a space.
        DreamSummary = "dream_summary",
    }
}

/// What kind of value a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// [`Value::Bool`].
    Bool,
    /// [`Value::Int`].
    Int,
    /// [`Value::Float`].
    Float,
    /// [`Value::Text`].
    Text,
    /// [`Value::Time`].
    Time,
    /// [`Value::Id`].
    Id,
    /// [`Value::Ids`].
    Ids,
    /// [`Value::Json`].
    Json,
    /// [`Value::Vector`].
    Vector,
}

impl Column {
    /// What kind of value it holds.
    pub const fn kind(self) -> ValueKind {
        match self {
            Self::Name
            | Self::EntityType
            | Self::RelationshipType
            | Self::Description
            | Self::EmbeddingModel
            | Self::Subject
            | Self::Text
            | Self::Tier
            | Self::Origin
            | Self::Source
            | Self::Kind
            | Self::StartsOn
            | Self::Status
            | Self::Key
            | Self::Collection
            | Self::DreamSummary => ValueKind::Text,
            Self::Attributes | Self::Properties | Self::Metadata | Self::Body => ValueKind::Json,
            Self::SourceDocumentIds | Self::SourceChunkIds => ValueKind::Ids,
            Self::MentionCount | Self::MentionCountSeen | Self::RecallCount => ValueKind::Int,
            Self::Confidence | Self::Weight => ValueKind::Float,
            Self::IsValid | Self::Pinned => ValueKind::Bool,
            Self::Embedding => ValueKind::Vector,
            Self::SourceEntityId
            | Self::TargetEntityId
            | Self::InvalidatedBy
            | Self::CanonicalId
            | Self::AbsorbedBy
            | Self::SupersededBy => ValueKind::Id,
            Self::ValidFrom
            | Self::ValidUntil
            | Self::ValidTo
            | Self::InvalidatedAt
            | Self::CreatedAt
            | Self::UpdatedAt
            | Self::LastRecalledAt
            | Self::ExpiresAt => ValueKind::Time,
        }
    }
}

impl Table {
    /// The tables of a space.
    pub const OF_SPACE: &'static [Self] =
        &[Self::Facts, Self::Journal, Self::Actions, Self::KeyValues, Self::Records, Self::Profiles];

    /// Whether the rows belong to a space.
    pub const fn is_of_space(self) -> bool {
        match self {
            Self::Facts | Self::Journal | Self::Actions | Self::KeyValues | Self::Records | Self::Profiles => true,
            Self::Entities | Self::Relationships | Self::TemporalEdges | Self::Aliases => false,
        }
    }

    /// Whether a touched row is written whole: it may have to be inserted.
    pub const fn is_written_whole(self) -> bool {
        matches!(self, Self::Aliases) || self.is_of_space()
    }

    /// The columns this program knows of the table, in the order in which a [`Row`] keeps them.
    pub const fn columns(self) -> &'static [Column] {
        use Column as C;
        match self {
            Self::Entities => &[
                C::Name,
                C::EntityType,
                C::Description,
                C::Attributes,
                C::SourceDocumentIds,
                C::SourceChunkIds,
                C::MentionCount,
                C::Embedding,
                C::EmbeddingModel,
                C::ValidUntil,
                C::Confidence,
                C::Metadata,
                C::CreatedAt,
                C::UpdatedAt,
            ],
            Self::Relationships => &[
                C::SourceEntityId,
                C::TargetEntityId,
                C::RelationshipType,
                C::Description,
                C::Properties,
                C::SourceDocumentIds,
                C::SourceChunkIds,
                C::ValidFrom,
                C::ValidUntil,
                C::ValidTo,
                C::InvalidatedAt,
                C::InvalidatedBy,
                C::Confidence,
                C::Weight,
                C::Metadata,
                C::CreatedAt,
                C::UpdatedAt,
            ],
            Self::TemporalEdges => &[C::SourceEntityId, C::TargetEntityId, C::RelationshipType, C::IsValid],
            Self::Aliases => &[C::Name, C::EntityType, C::CanonicalId, C::MentionCountSeen, C::AbsorbedBy],
            Self::Facts => &[
                C::Subject,
                C::Text,
                C::Tier,
                C::Origin,
                C::Pinned,
                C::RecallCount,
                C::LastRecalledAt,
                C::CreatedAt,
                C::UpdatedAt,
                C::ExpiresAt,
                C::SupersededBy,
                C::Source,
            ],
            Self::Journal => &[C::Kind, C::StartsOn, C::Text, C::CreatedAt, C::UpdatedAt],
            Self::Actions => &[C::Text, C::Status, C::ExpiresAt, C::CreatedAt, C::UpdatedAt],
            Self::KeyValues => &[C::Key, C::Body, C::ExpiresAt, C::CreatedAt, C::UpdatedAt],
            Self::Records => &[C::Collection, C::Body, C::Status, C::CreatedAt, C::UpdatedAt],
            Self::Profiles => &[C::DreamSummary, C::UpdatedAt],
        }
    }

    /// Where `column` stands in a row of this table.
    pub fn position(self, column: Column) -> Option<usize> {
        self.columns().iter().position(|known| *known == column)
    }

    /// The bit that marks `column` as touched in a write to this table.
    pub fn bit(self, column: Column) -> u32 {
        self.position(column).map_or(0, |position| 1 << position)
    }
}
