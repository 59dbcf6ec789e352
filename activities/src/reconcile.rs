//! Reconcile: every namespace of every store that still owes its graph something is drained.
//!
//! It takes no input, so that whoever starts it, a schedule, a run that left rows, or a person, gets the same.

use std::time::{Duration, Instant};

use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_ports::mirror::Owing;
use dream_workflows::contract::Reconciled;

use crate::failure::ResultExt;
use crate::mirror::{adopt, drain};
use crate::world::{StoreHandle, World};

/// How long one activity reconciles; what is left then is the next one's.
const RECONCILE_TIME_MAX: Duration = Duration::from_mins(1);

/// Namespaces looked up at once.
const NAMESPACES_PER_PAGE: u32 = 100;

/// Drains what is owed.
pub async fn reconcile(world: &World) -> Result<Reconciled, Failure> {
    let began = Instant::now();
    let mut done = Reconciled::default();
    for (name, handle) in &world.stores {
        if handle.graph.is_none() {
            continue;
        }
        // One store that is away stops no other.
        if let Err(failure) = of_store(world, handle, began, &mut done).await {
            tracing::warn!(store = name, "store {name} was not reconciled: {failure}");
            done.reasons.insert(failure.code.name().to_owned());
        }
    }
    Ok(done)
}

async fn of_store(world: &World, handle: &StoreHandle, began: Instant, done: &mut Reconciled) -> Result<(), Failure> {
    if let Err(failure) = adopt_all(world, handle, began, done).await {
        tracing::warn!("what Khora left was not looked for: {failure}");
        done.reasons.insert(failure.code.name().to_owned());
    }
    let mut after: Option<NamespaceId> = None;
    loop {
        let page: Vec<Owing> = handle.store.owing(after, NAMESPACES_PER_PAGE).await.or_fail()?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.namespace);
        for owing in &page {
            if began.elapsed() >= RECONCILE_TIME_MAX || world.stopping.is_cancelled() {
                done.is_more = true;
                return Ok(());
            }
            // A namespace that cannot be drained stops no other either.
            match drain(world, handle, owing.namespace).await {
                Ok(mirrored) => {
                    done.namespaces += 1;
                    done.done += mirrored.done;
                    done.missing += mirrored.missing;
                    done.left += mirrored.left;
                    done.parked += mirrored.parked;
                    done.is_more |= mirrored.is_more;
                    done.reasons.extend(mirrored.reason);
                }
                Err(failure) => {
                    tracing::warn!("namespace {} was not reconciled: {failure}", owing.namespace);
                    done.left += owing.open;
                    done.parked += owing.parked;
                    done.reasons.insert(failure.code.name().to_owned());
                }
            }
        }
    }
}

/// Takes over what Khora left in any namespace, so that it is owed like everything else.
async fn adopt_all(world: &World, handle: &StoreHandle, began: Instant, done: &mut Reconciled) -> Result<(), Failure> {
    let mut after: Option<NamespaceId> = None;
    loop {
        let page = handle.store.adoptable(after, NAMESPACES_PER_PAGE).await.or_fail()?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(*last);
        for namespace in page {
            // What waits for the graph already is older; the rest is the next one's.
            if began.elapsed() >= RECONCILE_TIME_MAX || world.stopping.is_cancelled() {
                done.is_more = true;
                return Ok(());
            }
            if let Err(failure) = adopt(handle.store.as_ref(), namespace).await {
                tracing::warn!("what Khora left in namespace {namespace} was not taken over: {failure}");
                done.reasons.insert(failure.code.name().to_owned());
            }
        }
    }
}
