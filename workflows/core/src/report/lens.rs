//! What a report sees of memory text: names joined in by the caller, seen through the redaction.
//!
//! **Invariant:** a name leaves this module as a [`Text`], that is, redacted; the raw type of an entity is used to look up
//! a threshold and goes no further.

use uuid::Uuid;

use crate::redact::{Redaction, Text};

/// The display name and type of an entity that still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityName<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub entity_type: &'a str,
}

/// Looks up names; answers none for an entity that is gone.
pub type Names<'a> = &'a dyn Fn(Uuid) -> Option<EntityName<'a>>;

/// A redaction and a way to look up names.
#[derive(Clone, Copy)]
pub struct Lens<'a> {
    redaction: &'a Redaction,
    names: Names<'a>,
}

impl<'a> Lens<'a> {
    /// Looks through `redaction` at what `names` knows.
    pub const fn new(redaction: &'a Redaction, names: Names<'a>) -> Self {
        Self { redaction, names }
    }

    /// The redaction.
    pub const fn redaction(&self) -> &'a Redaction {
        self.redaction
    }

    /// The name of an entity, as it may be shown; none if the entity is gone.
    pub fn name(&self, entity: Uuid) -> Option<Text> {
        (self.names)(entity).map(|found| self.redaction.text(found.name))
    }

    /// The type of an entity, as it may be shown; none if the entity is gone.
    pub fn entity_type(&self, entity: Uuid) -> Option<Text> {
        (self.names)(entity).map(|found| self.redaction.type_name(found.entity_type))
    }

    /// The type of an entity as it stands, to look up a threshold.
    pub(super) fn raw_type(&self, entity: Uuid) -> Option<&'a str> {
        (self.names)(entity).map(|found| found.entity_type)
    }
}

impl std::fmt::Debug for Lens<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lens").field("redaction", self.redaction).finish_non_exhaustive()
    }
}
