//! Writing what a group decided, set-wise, inside of its transaction.
//!
//! Each kind of row is one statement over arrays, one array per column. A column that no row of the group touches is bound as
//! an empty array, which the server fills up with nulls that are never looked at.

use std::collections::BTreeMap;

use dream_core::apply::OpResult;
use dream_core::change::{Column, Existence, Table, ValueKind};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::mirror::Direction;
use dream_core::op::Reason;
use dream_core::rows::Image;
use dream_core::verdict::Verdict;
use dream_ports::StoreError;
use uuid::Uuid;

use crate::columns::Columns;
use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::records::{signed, spell_json};
use crate::tx::Tx;
use crate::{query, sql};

const ROWS: &str = "write rows";

/// Writes the final images of touched rows.
pub(crate) async fn images(tx: &mut Tx, namespace: NamespaceId, images: &[Image]) -> Result<(), StoreError> {
    for table in Table::ALL {
        let of_table = images.iter().filter(|image| image.row.table == *table);
        let (removed, kept): (Vec<&Image>, Vec<&Image>) =
            of_table.partition(|image| image.existence == Existence::Removed);
        if !kept.is_empty() {
            let columns = Columns::touched(*table, &kept);
            match table {
                Table::Entities => entities(tx, namespace, &columns).await?,
                Table::Relationships => relationships(tx, namespace, &columns).await?,
                Table::TemporalEdges => temporal_edges(tx, namespace, &columns).await?,
                Table::Aliases => aliases(tx, namespace, &kept).await?,
                _ => of_space(tx, namespace, *table, &kept).await?,
            }
        }
        if let Some(statement) = delete_statement(*table).filter(|_| !removed.is_empty()) {
            let ids: Vec<Uuid> = removed.iter().map(|image| image.row.id).collect();
            query(statement).bind(namespace.0).bind(ids).execute(&mut **tx).await.doing(ROWS)?;
        }
    }
    Ok(())
}

/// How rows of a table are deleted, where an op may do so.
pub(crate) const fn delete_statement(table: Table) -> Option<&'static str> {
    Some(match table {
        Table::Entities | Table::Relationships | Table::TemporalEdges => return None,
        Table::Aliases => sql!("aliases/delete"),
        Table::Facts => sql!("facts/delete"),
        Table::Journal => sql!("journal/delete"),
        Table::Actions => sql!("actions/delete"),
        Table::KeyValues => sql!("key_values/delete"),
        Table::Records => sql!("records/delete"),
        Table::Profiles => sql!("profiles/delete"),
    })
}

/// Rows of a space are written whole: every column of the table, in its order.
async fn of_space(tx: &mut Tx, space: NamespaceId, table: Table, images: &[&Image]) -> Result<(), StoreError> {
    let statement = match table {
        Table::Facts => sql!("facts/upsert"),
        Table::Journal => sql!("journal/upsert"),
        Table::Actions => sql!("actions/upsert"),
        Table::KeyValues => sql!("key_values/upsert"),
        Table::Records => sql!("records/upsert"),
        Table::Profiles => sql!("profiles/upsert"),
        _ => return Ok(()),
    };
    let columns = Columns::whole(images.iter().map(|image| &image.row));
    let mut bound = query(statement).bind(space.0).bind(columns.ids());
    for column in table.columns() {
        bound = match column.kind() {
            ValueKind::Bool => bound.bind(columns.truths(*column)),
            ValueKind::Int => bound.bind(columns.integers(*column)),
            ValueKind::Time => bound.bind(columns.times(*column)),
            ValueKind::Id => bound.bind(columns.uuids(*column)),
            // No table of a space has columns of the other kinds.
            _ => bound.bind(columns.texts(*column)),
        };
    }
    bound.execute(&mut **tx).await.doing(ROWS)?;
    Ok(())
}

async fn entities(tx: &mut Tx, namespace: NamespaceId, columns: &Columns<'_>) -> Result<(), StoreError> {
    use Column as C;
    let vectors = columns.vectors(C::Embedding);
    query(sql!("entities/write"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.bits())
        .bind(columns.texts(C::Description))
        .bind(columns.texts(C::Attributes))
        .bind(columns.id_lists(C::SourceDocumentIds))
        .bind(columns.id_lists(C::SourceChunkIds))
        .bind(columns.integers(C::MentionCount))
        .bind(columns.texts(C::EmbeddingModel))
        .bind(columns.times(C::ValidUntil))
        .bind(columns.floats(C::Confidence))
        .bind(columns.texts(C::Metadata))
        .bind(vectors.components)
        .bind(columns.times(C::UpdatedAt))
        .bind(vectors.from)
        .bind(vectors.to)
        .execute(&mut **tx)
        .await
        .doing(ROWS)?;
    Ok(())
}

async fn relationships(tx: &mut Tx, namespace: NamespaceId, columns: &Columns<'_>) -> Result<(), StoreError> {
    use Column as C;
    query(sql!("relationships/write"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.bits())
        .bind(columns.uuids(C::SourceEntityId))
        .bind(columns.uuids(C::TargetEntityId))
        .bind(columns.texts(C::Description))
        .bind(columns.texts(C::Properties))
        .bind(columns.id_lists(C::SourceDocumentIds))
        .bind(columns.id_lists(C::SourceChunkIds))
        .bind(columns.times(C::InvalidatedAt))
        .bind(columns.uuids(C::InvalidatedBy))
        .bind(columns.floats(C::Confidence))
        .bind(columns.floats(C::Weight))
        .bind(columns.texts(C::Metadata))
        .bind(columns.times(C::UpdatedAt))
        .execute(&mut **tx)
        .await
        .doing(ROWS)?;
    Ok(())
}

async fn temporal_edges(tx: &mut Tx, namespace: NamespaceId, columns: &Columns<'_>) -> Result<(), StoreError> {
    use Column as C;
    query(sql!("temporal_edges/write"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.bits())
        .bind(columns.uuids(C::SourceEntityId))
        .bind(columns.uuids(C::TargetEntityId))
        .bind(columns.truths(C::IsValid))
        .execute(&mut **tx)
        .await
        .doing(ROWS)?;
    Ok(())
}

/// Aliases are written whole: they come, change and go as one.
async fn aliases(tx: &mut Tx, namespace: NamespaceId, images: &[&Image]) -> Result<(), StoreError> {
    use Column as C;
    let columns = Columns::whole(images.iter().map(|image| &image.row));
    query(sql!("aliases/upsert"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.texts(C::Name))
        .bind(columns.texts(C::EntityType))
        .bind(columns.uuids(C::CanonicalId))
        .bind(columns.integers(C::MentionCountSeen))
        .bind(columns.uuids(C::AbsorbedBy))
        .execute(&mut **tx)
        .await
        .doing(ROWS)?;
    Ok(())
}

/// What a group leaves behind besides its rows.
pub(crate) struct Trail<'a> {
    pub(crate) run: RunId,
    pub(crate) namespace: NamespaceId,
    pub(crate) direction: Direction,
    pub(crate) has_graph: bool,
    pub(crate) at: Moment,
    pub(crate) results: &'a [OpResult],
}

const TRAIL: &str = "write what the ops left behind";

/// Writes undo records, touched rows, outbox, verdicts and op states.
pub(crate) async fn trail(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    if trail.results.is_empty() {
        return Ok(());
    }
    states(tx, trail).await?;
    if trail.direction == Direction::Apply {
        undo_records(tx, trail).await?;
        touched(tx, trail).await?;
    }
    outbox(tx, trail).await?;
    let settled: Vec<Verdict> = trail.results.iter().flat_map(|result| result.verdicts.iter().copied()).collect();
    let word = if trail.direction == Direction::Undo { Word::Persons } else { Word::Runs };
    verdicts(tx, trail.namespace, &settled, word).await
}

async fn states(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let is_apply = trail.direction == Direction::Apply;
    let numbers = |result: &OpResult| is_apply.then(|| spell_json(&result.numbers));
    query(sql!("ops/settle"))
        .bind(trail.run.0)
        .bind(trail.results.iter().map(|result| signed(result.seq)).collect::<Vec<_>>())
        .bind(trail.results.iter().map(|result| result.state.as_str()).collect::<Vec<_>>())
        .bind(trail.results.iter().map(|result| result.reason.map(Reason::as_str)).collect::<Vec<_>>())
        .bind(trail.results.iter().map(numbers).collect::<Vec<_>>())
        .bind(Timestamptz::from(trail.at))
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    Ok(())
}

async fn undo_records(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let records = || trail.results.iter().filter_map(|result| Some((result, result.undo.as_ref()?)));
    query(sql!("undo/insert"))
        .bind(trail.run.0)
        .bind(records().map(|(result, _)| result.op.0).collect::<Vec<_>>())
        .bind(records().map(|(result, _)| signed(result.seq)).collect::<Vec<_>>())
        .bind(records().map(|(_, record)| spell_json(record)).collect::<Vec<_>>())
        .bind(Timestamptz::from(trail.at))
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    Ok(())
}

async fn touched(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let touched = || trail.results.iter().flat_map(|result| result.touched().map(|key| (key, result.seq)));
    query(sql!("touched/insert"))
        .bind(trail.run.0)
        .bind(touched().map(|(key, _)| key.table.as_str()).collect::<Vec<_>>())
        .bind(touched().map(|(key, _)| key.id).collect::<Vec<_>>())
        .bind(touched().map(|(_, seq)| signed(seq)).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    Ok(())
}

async fn outbox(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let told = || trail.results.iter().filter(|result| !result.verbs.is_empty());
    query(sql!("outbox/insert"))
        .bind(trail.namespace.0)
        .bind(trail.run.0)
        .bind(told().map(|result| result.op.0).collect::<Vec<_>>())
        .bind(told().map(|result| spell_json(&result.verbs)).collect::<Vec<_>>())
        .bind(trail.direction.as_str())
        .bind(if trail.has_graph { "open" } else { "no_graph" })
        .bind(Timestamptz::from(trail.at))
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    Ok(())
}

/// Whose word a verdict is. That of an undo is a person's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Runs,
    Persons,
}

/// Writes verdicts; those of a person stand against any run's.
pub(crate) async fn verdicts(
    tx: &mut Tx,
    namespace: NamespaceId,
    verdicts: &[Verdict],
    word: Word,
) -> Result<(), StoreError> {
    // One statement may touch a row once; of two words on one pair the later holds.
    let verdicts: BTreeMap<_, _> =
        verdicts.iter().map(|verdict| ((verdict.low, verdict.high), verdict.ruling)).collect();
    if verdicts.is_empty() {
        return Ok(());
    }
    query(sql!("verdicts/write"))
        .bind(namespace.0)
        .bind(verdicts.keys().map(|(low, _)| &low.0[..]).collect::<Vec<_>>())
        .bind(verdicts.keys().map(|(_, high)| &high.0[..]).collect::<Vec<_>>())
        .bind(verdicts.values().map(|ruling| ruling.as_str()).collect::<Vec<_>>())
        .bind(word == Word::Persons)
        .execute(&mut **tx)
        .await
        .doing("write verdicts")?;
    Ok(())
}
