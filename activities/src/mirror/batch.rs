//! One transaction of the graph.

use std::collections::BTreeSet;

use dream_core::change::{Column, RowKey};
use dream_core::id::OpId;
use dream_core::mirror::{
    Direction, GraphNeeds, GraphRecord, GraphRows, GraphWrites, Telling, Told, tell as tell_rows,
};
use dream_ports::mirror::{DrainFence, KeptRow, OutboxRow};
use dream_ports::{Graph, GraphError, GraphTx, Store, StoreError};
use uuid::Uuid;

use super::Records;

/// Who could not do it.
pub(super) enum Trouble {
    Store(StoreError),
    Graph(GraphError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<GraphError> for Trouble {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

/// Tells the graph of rows; answers how many of them missed something there.
pub(super) async fn tell(
    store: &dyn Store,
    graph: &dyn Graph,
    fence: &DrainFence,
    rows: &[OutboxRow],
) -> Result<u64, Trouble> {
    let taking_back = super::taking_back(rows);
    let mut records = store.graph_records(&taking_back).await?;
    let mut tx = graph.begin(fence.namespace, fence.epoch).await?;
    let mut graph_rows = load(store, tx.as_mut(), fence, rows, &records).await?;
    let told = run(&mut graph_rows, rows, &taking_back.into_iter().collect(), &mut records);
    let pairs: Vec<_> = told.iter().map(|(told, taken_back)| (&told.record, taken_back.as_ref())).collect();
    let writes = GraphWrites::of(&graph_rows, &pairs);
    let batch = Uuid::now_v7();
    let kept: Vec<KeptRow> = rows
        .iter()
        .zip(told)
        .map(|(row, (Told { record, answer }, _))| KeptRow {
            id: row.id,
            op: row.op,
            direction: row.direction,
            record: match row.direction {
                Direction::Apply => record,
                Direction::Undo => record.digests(),
            },
            answer,
        })
        .collect();
    // Both at once: what is written is nowhere until it is committed, and that waits for what was kept.
    let (written, kept) = futures::future::join(tx.write(&writes), store.keep_batch(fence, batch, &kept)).await;
    kept?;
    if let Err(error) = written {
        // It is known that nothing was committed.
        store.forget_batch(fence, batch).await?;
        return Err(error.into());
    }
    tx.commit(batch).await?;
    Ok(store.close_batch(fence, batch).await?)
}

/// Loads what the rows speak of.
async fn load(
    store: &dyn Store,
    tx: &mut dyn GraphTx,
    fence: &DrainFence,
    rows: &[OutboxRow],
    records: &Records,
) -> Result<GraphRows, Trouble> {
    let batch: Vec<Telling<'_>> = rows.iter().map(|row| telling(row, records.get(&row.op))).collect();
    let mut needs = GraphNeeds::of(&batch);
    // The tables know where an edge runs that is named by its id alone.
    let keys: Vec<RowKey> = needs.edges.iter().map(|id| RowKey::relationship(*id)).collect();
    if !keys.is_empty() {
        let rows = store.content_rows(fence.namespace, &keys).await?;
        let ends = rows
            .iter()
            .filter_map(|row| Some((row.get(Column::SourceEntityId).id()?, row.get(Column::TargetEntityId).id()?)));
        needs.edges_between.extend(ends.collect::<BTreeSet<_>>());
    }
    let mut graph_rows = GraphRows::default();
    load_stored(store, fence, &mut needs, &mut graph_rows).await?;
    tx.load(&needs, &mut graph_rows).await?;
    let second = needs.second(&batch, &graph_rows);
    tx.load(&second, &mut graph_rows).await?;
    Ok(graph_rows)
}

/// Loads the rows that a repair makes the graph follow: of an edge its ends too, which an edge needs to be there.
async fn load_stored(
    store: &dyn Store,
    fence: &DrainFence,
    needs: &mut GraphNeeds,
    graph_rows: &mut GraphRows,
) -> Result<(), Trouble> {
    let keys: Vec<RowKey> = needs.stored.iter().copied().collect();
    if keys.is_empty() {
        return Ok(());
    }
    let rows = store.content_rows(fence.namespace, &keys).await?;
    let ends =
        rows.iter().flat_map(|row| [Column::SourceEntityId, Column::TargetEntityId].map(|end| row.get(end).id()));
    let ends: BTreeSet<Uuid> = ends.flatten().collect();
    let entities: Vec<RowKey> = ends.iter().copied().map(RowKey::entity).collect();
    let ends_rows = store.content_rows(fence.namespace, &entities).await?;
    needs.nodes.extend(ends);
    rows.into_iter().chain(ends_rows).for_each(|row| graph_rows.load_stored(row));
    Ok(())
}

fn telling<'a>(row: &'a OutboxRow, applied: Option<&'a GraphRecord>) -> Telling<'a> {
    Telling { op: row.op, verbs: &row.verbs, at: row.written_at, applied }
}

/// Runs the ops in their order; answers for each what it did, and the record of what it took back.
fn run(
    graph_rows: &mut GraphRows,
    rows: &[OutboxRow],
    taking_back: &BTreeSet<OpId>,
    records: &mut Records,
) -> Vec<(Told, Option<GraphRecord>)> {
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let taken_back = row.verbs.iter().any(super::is_take_back).then(|| records.get(&row.op).cloned()).flatten();
        let told = tell_rows(graph_rows, &telling(row, taken_back.as_ref()));
        // A later row of the batch may take it back.
        if taken_back.is_none() && taking_back.contains(&row.op) {
            records.insert(row.op, told.record.clone());
        }
        all.push((told, taken_back));
    }
    all
}
