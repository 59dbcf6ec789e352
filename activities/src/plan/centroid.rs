//! Vectors of survivors, one op per merge of this run.

use std::collections::{BTreeMap, BTreeSet};

use dream_core::algo::cosine::Score;
use dream_core::failure::Failure;
use dream_core::op::{Decision, Intent, OpKind, Reason};
use dream_core::realm::graph::centroid::{CentroidSettings, Members, draft};
use dream_ports::run::RunRecord;
use uuid::Uuid;

use super::Drawn;
use crate::begin::RunSettings;
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Merges whose members are held in memory at once.
const MERGES_PER_PAGE: usize = 1_000;

pub(super) async fn draw(handle: &StoreHandle, run: &RunRecord, settings: &RunSettings) -> Result<Drawn, Failure> {
    let mut merges = handle.store.drafts(run.run, Some(OpKind::DedupeEntities)).await.or_fail()?;
    merges.retain(|merge| merge.decision == Decision::Planned);
    if merges.is_empty() {
        return Ok(Drawn::skipped(OpKind::CentroidRecompute, Reason::NoMergeClusters, None));
    }
    let settings = CentroidSettings {
        cosine_min: Score::from_unit(settings.settings.centroid_min_intra_cluster_cosine),
        edit_distance_max: settings.settings.centroid_lev_threshold,
    };
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let mut drawn = Drawn::default();
    for merges in merges.chunks(MERGES_PER_PAGE) {
        let ids: BTreeSet<Uuid> = merges.iter().flat_map(|merge| members(&merge.intent)).collect();
        let ids: Vec<Uuid> = ids.into_iter().collect();
        let names: BTreeMap<Uuid, String> =
            snapshot.live_names(&ids).await.or_fail()?.into_iter().map(|(id, name, _)| (id, name)).collect();
        let mut vectors: BTreeMap<Uuid, Vec<f32>> = BTreeMap::new();
        snapshot
            .vectors(&ids, &mut |id, vector| {
                vectors.insert(id, vector.to_vec());
            })
            .await
            .or_fail()?;
        for merge in merges {
            let members: Members = members(&merge.intent)
                .filter_map(|id| Some((id, (names.get(&id)?.clone(), vectors.get(&id).cloned()))))
                .collect();
            drawn.drafts.extend(draft(merge, &members, settings));
        }
    }
    Ok(drawn)
}

fn members(intent: &Intent) -> impl Iterator<Item = Uuid> {
    let ids = match intent {
        Intent::MergeEntities { keep, absorb } => std::iter::once(*keep).chain(absorb.iter().copied()).collect(),
        _ => Vec::new(),
    };
    ids.into_iter()
}
