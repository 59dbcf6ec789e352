//! Mirror: what the outbox of a namespace holds is told to the graph database, in its order.
//!
//! A batch is one transaction of the graph: its rows are locked and read, the ops run over them in memory, and what the graph
//! held before is committed to the store before the graph's own transaction is. Whether a batch whose end is not known
//! happened is said by the mark that its transaction left.
//!
//! **Invariant:** nothing here fails a run. What the graph does not take is counted, put off, and left to the reconciler.

mod batch;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dream_core::clock::Moment;
use dream_core::failure::Failure;
use dream_core::id::{NamespaceId, OpId};
use dream_core::mirror::{GraphRecord, Verb, Waiting, ready};
use dream_ports::mirror::{DrainFence, GRAPH_UNAVAILABLE, OutboxFilter, OutboxRow, OutboxState};
use dream_ports::{Graph, GraphError, Store, StoreError};
use dream_workflows::contract::{Mirrored, RunRef};
use futures::future::Either;

use crate::failure::ResultExt;
use crate::lease::while_renewing;
use crate::observe;
use crate::world::{StoreHandle, World};
use batch::Trouble;

/// How long one activity drains before it lets the story go on.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(45);

/// How often the queue's lease is renewed: a quarter of its term. The term is short, because a queue whose drainer was killed
/// waits for its end.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// Rows of one transaction: enough that what a transaction costs does not show, few enough that what it holds is small. Merges
/// have two nodes each, so that more would only be more statements.
const BATCH_ROWS_MAX: usize = 1_000;

/// Rows that are looked through for those that may be told: five batches.
const WAITING_ROWS_MAX: u32 = 5_000;

/// Rows of one namespace that may be set aside. Beyond it something is wrong with more than a row.
const PARKED_ROWS_MAX: usize = 2_000;

/// Attempts after which a row that is at fault itself is set aside: a quarter of an hour. A server that is away is no fault
/// of a row.
const ATTEMPTS_MAX: u32 = 10;

/// How often a transaction is tried again at once after a deadlock or a conflict, and how long between.
const BUSY_RETRIES_MAX: u32 = 10;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// The first wait before a row is tried again, and the longest; it doubles between them.
const BACK_OFF_SECONDS_MIN: i64 = 2;
const BACK_OFF_SECONDS_MAX: i64 = 300;

/// A server that was away is asked again after this long: convergence must not wait for what rows have gathered meanwhile.
const AWAY_SECONDS: i64 = 15;

/// Drains the namespace of a run.
pub async fn mirror(world: &World, run: RunRef) -> Result<Mirrored, Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let drained = drain(world, handle, record.namespace);
    if !record.state.is_open() {
        return drained.await;
    }
    // A run that is under way gives its sign of life here as everywhere; one that was taken over owes nothing less.
    match handle.store.fence(record.run, &world.holder).await {
        Ok(fence) => while_renewing(handle.store.as_ref(), &fence, drained).await,
        Err(StoreError::LeaseLost { .. }) => drained.await,
        Err(error) => Err::<_, StoreError>(error).or_fail(),
    }
}

/// Drains a namespace as far as it can be done within an activity.
pub async fn drain(world: &World, handle: &StoreHandle, namespace: NamespaceId) -> Result<Mirrored, Failure> {
    let mut done = Mirrored::default();
    let store = handle.store.as_ref();
    let Some(graph) = handle.graph.as_deref() else { return Ok(done) };
    // What Khora left stays where it is then, and what is in the queue is told all the same.
    if let Err(failure) = adopt(store, namespace).await {
        tracing::warn!("what Khora left in namespace {namespace} was not taken over: {failure}");
    }
    if waiting(store, namespace, 1).await?.is_empty() {
        return Ok(done);
    }
    match store.begin_drain(namespace, &world.holder).await.or_fail()? {
        Some(fence) => {
            let drainer = Drainer { store, graph, fence, began: Instant::now() };
            let drained = {
                let work = std::pin::pin!(drainer.run(world, &mut done));
                let lost = std::pin::pin!(drainer.renew());
                match futures::future::select(work, lost).await {
                    Either::Left((drained, _)) => drained,
                    // What its last batch did is found out by whoever holds the queue now.
                    Either::Right(((), _)) => Ok(()),
                }
            };
            store.end_drain(&fence).await.or_fail()?;
            drained?;
        }
        None => done.reason = Some(ANOTHER.to_owned()),
    }
    let owing = store.owing_of(namespace).await.or_fail()?;
    done.left = owing.as_ref().map_or(0, |owing| owing.open);
    done.parked = owing.as_ref().map_or(0, |owing| owing.parked);
    done.is_more = done.is_more && done.left > 0;
    observe::mirrored(&done);
    Ok(done)
}

/// Takes over what Khora left for the graph: it is owed like everything else, and nothing is planned on what it names before.
/// Answers whether that must wait for Khora.
pub(crate) async fn adopt(store: &dyn Store, namespace: NamespaceId) -> Result<bool, Failure> {
    let adopted = store.adopt(namespace).await.or_fail()?;
    if adopted.entries > 0 {
        tracing::info!(entries = adopted.entries, "took over what Khora left for the graph of namespace {namespace}");
    }
    for run in adopted.unreadable {
        tracing::warn!(run.id = %run, "what run {run} of Khora left for the graph cannot be read, and stays where it is");
    }
    Ok(adopted.waits_for_khora)
}

async fn waiting(store: &dyn Store, namespace: NamespaceId, limit: u32) -> Result<Vec<OutboxRow>, Failure> {
    let filter = OutboxFilter {
        namespace: Some(namespace),
        states: vec![OutboxState::Open, OutboxState::Parked],
        limit,
        ..OutboxFilter::default()
    };
    store.outbox(&filter).await.or_fail()
}

/// One drainer of one namespace.
struct Drainer<'a> {
    store: &'a dyn Store,
    graph: &'a dyn Graph,
    fence: DrainFence,
    began: Instant,
}

impl Drainer<'_> {
    /// Renews the lease; ends when it is lost.
    async fn renew(&self) {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            // Whatever else goes wrong may go well the next time; the term has room for it.
            if self.store.renew_drain(&self.fence).await.is_err_and(|error| is_lost(&error)) {
                return;
            }
        }
    }

    async fn run(&self, world: &World, done: &mut Mirrored) -> Result<(), Failure> {
        loop {
            if self.began.elapsed() >= DRAIN_TIME_MAX || world.stopping.is_cancelled() {
                done.is_more = true;
                return Ok(());
            }
            let rows = waiting(self.store, self.fence.namespace, WAITING_ROWS_MAX).await?;
            let now = self.store.now().await.or_fail()?;
            // A server that was away just now would only cost another time-out.
            if rows.iter().any(|row| is_put_off(row, now) && row.reason.as_deref() == Some(GRAPH_UNAVAILABLE)) {
                done.reason = Some(GRAPH_UNAVAILABLE.to_owned());
                return Ok(());
            }
            if let Some(outcome) = self.settle_unknown(&rows, done).await {
                if let Some(reason) = outcome? {
                    done.reason = Some(reason);
                    return Ok(());
                }
                continue;
            }
            let due = match self.due(&rows, now).await? {
                Ok(due) => due,
                Err(reason) => {
                    done.reason = Some(reason);
                    return Ok(());
                }
            };
            if due.is_empty() {
                return Ok(());
            }
            for rows in due.chunks(BATCH_ROWS_MAX) {
                if self.began.elapsed() >= DRAIN_TIME_MAX || world.stopping.is_cancelled() {
                    break;
                }
                match self.tell(rows, done).await? {
                    Next::GoOn => {}
                    Next::LookAnew(reason) => {
                        done.reason = Some(reason);
                        break;
                    }
                    Next::Stop(reason) => {
                        done.reason = Some(reason);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The rows that may be told now, or why none may.
    async fn due(&self, rows: &[OutboxRow], now: Moment) -> Result<Result<Vec<OutboxRow>, String>, Failure> {
        if rows.iter().filter(|row| row.state == OutboxState::Parked).count() > PARKED_ROWS_MAX {
            return Ok(Err("too_many_rows_parked".to_owned()));
        }
        let records = self.store.graph_records(&taking_back(rows)).await.or_fail()?;
        let waiting: Vec<Waiting> = rows
            .iter()
            .map(|row| Waiting {
                op: row.op,
                ids: row.verbs.iter().flat_map(|verb| ids(verb, records.get(&row.op))).collect(),
                is_parked: row.state == OutboxState::Parked || is_put_off(row, now),
            })
            .collect();
        Ok(Ok(ready(&waiting).into_iter().map(|place| rows[place].clone()).collect()))
    }

    /// Finds out what became of batches whose end is not known; none if there is no such batch, else why it could not be
    /// found out.
    async fn settle_unknown(&self, rows: &[OutboxRow], done: &mut Mirrored) -> Option<Result<Option<String>, Failure>> {
        let row = rows.iter().find(|row| row.batch.is_some())?;
        let batch = row.batch?;
        let committed = match self.graph.begin(self.fence.namespace, self.fence.epoch).await {
            Ok(tx) => tx.batch_committed() == Some(batch),
            Err(error) => return Some(self.give_up(std::slice::from_ref(row), &error).await.map(Some)),
        };
        let rows = rows.iter().filter(|row| row.batch == Some(batch)).count();
        let settled = if committed {
            self.store.close_batch(&self.fence, batch).await.map(|missing| {
                done.done += rows as u64;
                done.missing += missing;
            })
        } else {
            self.store.forget_batch(&self.fence, batch).await
        };
        Some(settled.or_fail().map(|()| None))
    }

    /// Tells the graph of rows, in ever smaller parts where one is at fault.
    async fn tell(&self, rows: &[OutboxRow], done: &mut Mirrored) -> Result<Next, Failure> {
        let mut parts: Vec<&[OutboxRow]> = vec![rows];
        let mut busy = 0;
        while let Some(part) = parts.pop() {
            match batch::tell(self.store, self.graph, &self.fence, part).await {
                Ok(missing) => {
                    busy = 0;
                    done.done += part.len() as u64;
                    done.missing += missing;
                }
                Err(Trouble::Store(error)) if is_lost(&error) => return Ok(Next::Stop(ANOTHER.to_owned())),
                Err(Trouble::Store(error)) => return Err::<_, StoreError>(error).or_fail(),
                Err(Trouble::Graph(GraphError::Busy { .. })) if busy < BUSY_RETRIES_MAX => {
                    busy += 1;
                    tokio::time::sleep(BUSY_PAUSE * busy).await;
                    parts.push(part);
                }
                Err(Trouble::Graph(error)) if is_at_fault(&error) && part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(Trouble::Graph(error)) if is_at_fault(&error) => {
                    self.put_off(part, &error).await?;
                    return Ok(Next::LookAnew(reason(&error)));
                }
                Err(Trouble::Graph(error)) => return self.give_up(part, &error).await.map(Next::Stop),
            }
        }
        Ok(Next::GoOn)
    }

    /// Puts a row off that the graph does not take, and sets it aside after its last attempt.
    async fn put_off(&self, rows: &[OutboxRow], error: &GraphError) -> Result<(), Failure> {
        let now = self.store.now().await.or_fail()?;
        for row in rows {
            let attempts = row.attempts + 1;
            let wait = BACK_OFF_SECONDS_MIN.saturating_mul(1 << row.attempts.min(16)).min(BACK_OFF_SECONDS_MAX);
            let next_at = (attempts < ATTEMPTS_MAX).then(|| now.plus_seconds(wait));
            tracing::warn!(op.id = %row.op, attempts, parked = next_at.is_none(), "the graph did not take op {}: {error}", row.op);
            self.store.put_off(&self.fence, &[row.id], &reason(error), next_at).await.or_fail()?;
        }
        Ok(())
    }

    /// Leaves everything for later, because the server is not there, or is somebody else's.
    async fn give_up(&self, rows: &[OutboxRow], error: &GraphError) -> Result<String, Failure> {
        if matches!(error, GraphError::Fenced { .. }) {
            return Ok(ANOTHER.to_owned());
        }
        tracing::warn!(rows = rows.len(), "the mirror of namespace {} waits: {error}", self.fence.namespace);
        let now = self.store.now().await.or_fail()?;
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        self.store
            .put_off(&self.fence, &ids, GRAPH_UNAVAILABLE, Some(now.plus_seconds(AWAY_SECONDS)))
            .await
            .or_fail()?;
        Ok(reason(error))
    }
}

/// Why a drainer leaves a queue to itself.
pub const ANOTHER: &str = "another_drainer";

/// How a drainer goes on behind some rows.
enum Next {
    GoOn,
    /// A row was put off, and what builds on it must wait with it.
    LookAnew(String),
    Stop(String),
}

fn is_put_off(row: &OutboxRow, now: Moment) -> bool {
    row.next_at.is_some_and(|at| at > now)
}

fn is_take_back(verb: &Verb) -> bool {
    matches!(verb, Verb::TakeBack { .. })
}

/// The ops that rows take back: of no others is it asked what was kept of them.
fn taking_back(rows: &[OutboxRow]) -> Vec<OpId> {
    rows.iter().filter(|row| row.verbs.iter().any(is_take_back)).map(|row| row.op).collect()
}

/// What a verb speaks of; one that takes an op back, all that the op touched.
fn ids(verb: &Verb, applied: Option<&GraphRecord>) -> Vec<uuid::Uuid> {
    match applied {
        Some(record) if is_take_back(verb) => record.undo.keys().map(|key| key.id).collect(),
        _ => verb.ids(),
    }
}

fn is_lost(error: &StoreError) -> bool {
    matches!(error, StoreError::Busy { code, .. } if code == "drainer_lost")
}

/// Whether an error is about what was written, and not about who was asked.
fn is_at_fault(error: &GraphError) -> bool {
    matches!(error, GraphError::Refused { .. } | GraphError::Unreadable { .. })
}

fn reason(error: &GraphError) -> String {
    match error {
        GraphError::Unavailable { .. } => GRAPH_UNAVAILABLE.to_owned(),
        GraphError::Busy { code, .. } => format!("graph_busy: {code}"),
        GraphError::Refused { code, .. } => format!("graph_refused: {code}"),
        GraphError::Unfit { code, .. } => format!("graph_unfit: {code}"),
        GraphError::Unreadable { what, .. } => format!("graph_unreadable: {what}"),
        _ => ANOTHER.to_owned(),
    }
}

/// What was kept of ops, by op.
type Records = BTreeMap<OpId, GraphRecord>;
