//! Guards: the rules no planner and no model can override.
//!
//! A guard admits or refuses; it never edits. Whether a run may start is asked before anything is written ([`admits_run`]);
//! what an op's kind may change is asked of its finished edits, inside the transaction ([`admits`]).
//!
//! **Invariant:** documents and chunks are no tables of [`crate::change`], so their deletion and a change of a chunk's id
//! cannot even be spelled. A new kind of op gets its columns in [`may_change`].

use crate::change::{Column, Table};
use crate::op::OpKind;

/// Whether an op of this kind may make these changes. `None` for a column means that the row itself comes or goes.
pub fn admits(kind: OpKind, changes: impl IntoIterator<Item = (Table, Option<Column>)>) -> bool {
    changes.into_iter().all(|(table, column)| may_change(kind, table, column))
}

fn may_change(kind: OpKind, table: Table, column: Option<Column>) -> bool {
    use Column as C;
    match (kind, table) {
        (OpKind::SourceChunkIdsGc, Table::Entities | Table::Relationships) => column == Some(C::SourceChunkIds),
        (OpKind::CentroidRecompute, Table::Entities) => {
            matches!(column, Some(C::Embedding | C::EmbeddingModel | C::UpdatedAt))
        }
        (OpKind::Reabsorb | OpKind::DedupeEntities, Table::Entities) => matches!(
            column,
            Some(
                C::Description
                    | C::Attributes
                    | C::SourceDocumentIds
                    | C::SourceChunkIds
                    | C::MentionCount
                    | C::ValidUntil
                    | C::Confidence
                    | C::Metadata
                    | C::UpdatedAt
            )
        ),
        (OpKind::Reabsorb | OpKind::DedupeEntities, Table::Relationships) => matches!(
            column,
            Some(
                C::SourceEntityId
                    | C::TargetEntityId
                    | C::Description
                    | C::Properties
                    | C::SourceDocumentIds
                    | C::SourceChunkIds
                    | C::InvalidatedAt
                    | C::InvalidatedBy
                    | C::Confidence
                    | C::Weight
                    | C::UpdatedAt
            )
        ),
        (OpKind::Reabsorb | OpKind::DedupeEntities, Table::TemporalEdges) => {
            matches!(column, Some(C::SourceEntityId | C::TargetEntityId | C::IsValid))
        }
        (OpKind::SpacePromote, Table::Facts) => matches!(column, Some(C::Tier | C::UpdatedAt)),
        // A fact is taken away whole, so every column of it; which facts, `realm::space::effect` asks of the locked rows.
        (OpKind::Reabsorb | OpKind::DedupeEntities, Table::Aliases)
        | (
            OpKind::SpaceExpire | OpKind::SpaceStaleScratch | OpKind::SpaceDedupeExact | OpKind::SpaceMerge,
            Table::Facts,
        )
        | (OpKind::SpaceDigest, Table::Journal)
        | (OpKind::SpaceProfile, Table::Profiles)
        | (OpKind::SpaceProposal | OpKind::SpaceContradiction, Table::Records) => true,
        // Audits only look; and what is not named here is nobody's to change.
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_may_rename_an_entity_or_change_its_type() {
        for kind in OpKind::ALL {
            for column in [Column::Name, Column::EntityType] {
                assert!(!admits(*kind, [(Table::Entities, Some(column))]), "{kind} {column}");
            }
        }
    }

    #[test]
    fn no_kind_may_add_or_remove_an_entity_or_a_relationship() {
        for kind in OpKind::ALL {
            for table in [Table::Entities, Table::Relationships, Table::TemporalEdges] {
                assert!(!admits(*kind, [(table, None)]), "{kind} {table}");
            }
        }
    }

    #[test]
    fn an_audit_may_change_nothing() {
        for kind in OpKind::ALL.iter().filter(|kind| kind.is_audit()) {
            for table in Table::ALL {
                for column in table.columns() {
                    assert!(!admits(*kind, [(*table, Some(*column))]), "{kind} {table}.{column}");
                }
            }
        }
    }
}
