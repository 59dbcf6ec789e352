//! Which rows a run may change.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::clock::Moment;
use crate::run::Scope;

/// A scope, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct ScopeFilter {
    since: Option<Moment>,
    until: Option<Moment>,
    entities: Option<BTreeSet<Uuid>>,
    documents: Option<BTreeSet<Uuid>>,
}

/// What a scope asks of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowFacts<'a> {
    /// The entity itself, or both ends of an edge.
    pub entities: &'a [Uuid],
    /// Documents it was extracted from.
    pub documents: &'a [Uuid],
    /// When it was last written.
    pub updated_at: Moment,
}

impl ScopeFilter {
    /// The filter of a scope; of none, one that admits everything.
    pub fn of(scope: Option<&Scope>) -> Self {
        let set = |ids: &Option<Vec<Uuid>>| ids.as_ref().map(|ids| ids.iter().copied().collect());
        scope.map_or_else(Self::default, |scope| Self {
            since: scope.since,
            until: scope.until,
            entities: set(&scope.entity_ids),
            documents: set(&scope.document_ids),
        })
    }

    /// Whether a row may change.
    pub fn admits(&self, row: RowFacts<'_>) -> bool {
        let among = |wanted: &Option<BTreeSet<Uuid>>, ids: &[Uuid]| {
            wanted.as_ref().is_none_or(|wanted| ids.iter().any(|id| wanted.contains(id)))
        };
        self.since.is_none_or(|since| since <= row.updated_at)
            && self.until.is_none_or(|until| row.updated_at < until)
            && among(&self.entities, row.entities)
            && among(&self.documents, row.documents)
    }
}
