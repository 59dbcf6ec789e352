//! What ingestion brought back of absorbed entities.

use std::collections::{BTreeMap, BTreeSet};

use dream_core::realm::graph::reabsorb::{AliasChains, Returned, drafts};
use dream_core::realm::graph::scope::RowFacts;
use dream_core::verdict::{Ruling, name_key};
use dream_ports::run::RunRecord;
use uuid::Uuid;

use super::{Drawn, NotDrawn};
use crate::audit::scope_of;
use crate::edges::{Edges, away};
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Retired nodes with live edges that are looked up; more are the next run's.
const STRAYS_MAX: u32 = 50_000;

pub(super) async fn draw(handle: &StoreHandle, run: &RunRecord, edges: &Edges<'_>) -> Result<Drawn, NotDrawn> {
    let scope = scope_of(run)?;
    let key = handle.store.text_key().await.or_fail()?;
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let strays: BTreeMap<Uuid, u32> = match edges {
        Edges::Store => BTreeMap::new(),
        Edges::Graph(graph) => {
            let strays = graph.strays(run.namespace, STRAYS_MAX).await;
            let strays = strays.map_err(|error| away(run.namespace, &error))?;
            strays.into_iter().map(|stray| (stray.node, stray.edges_live)).collect()
        }
    };
    let nodes: Vec<Uuid> = strays.keys().copied().collect();
    let resurfaced = snapshot.resurfaced(&nodes).await.or_fail()?;
    if resurfaced.is_empty() {
        return Ok(Drawn::default());
    }
    let chains = AliasChains::new(snapshot.aliases().await.or_fail()?);
    let survivors: BTreeSet<_> = resurfaced.iter().filter_map(|row| chains.survivor(row.absorbed)).collect();
    let names = snapshot.live_names(&survivors.into_iter().collect::<Vec<_>>()).await.or_fail()?;
    let survivors: BTreeMap<_, _> =
        names.into_iter().map(|(id, name, entity_type)| (id, name_key(&key, &name, &entity_type))).collect();
    let returned: Vec<Returned> = resurfaced
        .into_iter()
        .map(|row| Returned {
            absorbed: row.absorbed,
            name_and_type: name_key(&key, &row.name, &row.entity_type),
            is_live: row.is_live,
            mention_count: row.mention_count,
            mention_count_seen: row.mention_count_seen,
            edges_live: row.edges_live + strays.get(&row.absorbed).copied().unwrap_or(0),
            in_scope: scope.admits(RowFacts {
                entities: &[row.absorbed],
                documents: &row.source_document_ids,
                updated_at: row.updated_at,
            }),
        })
        .collect();
    let verdicts = handle.store.verdicts(run.namespace).await.or_fail()?;
    let apart = verdicts
        .into_iter()
        .filter(|verdict| verdict.ruling == Ruling::KeepApart)
        .map(|verdict| (verdict.low, verdict.high))
        .collect();
    Ok(Drawn { drafts: drafts(&returned, &chains, &survivors, &apart), ..Drawn::default() })
}
