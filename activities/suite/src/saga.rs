//! The saga kit: a world with one op of each kind, on which the laws of [`crate::laws`] are tried.
//!
//! A new kind of op does not compile until it has a world here.

use dream_core::change::{Column, RowKey, Table, Value};
use dream_core::digest::Fingerprint;
use dream_core::mirror::verify::Difference;
use dream_core::op::{Decision, Draft, Intent, OpKind, OpState};
use dream_core::realm::space::effect::RecordKind;
use dream_core::realm::space::fact::Tier;
use dream_core::realm::space::row::of_fact;

use crate::actor::{centroid, drop_references, kept_apart, repair};
use crate::kit::{Mention, WorldKit};
use crate::spaces::{make_space, noted};
use crate::world::{Scene, chunk, edge, entity, id, temporal_edge, vector};

/// One op of one kind, about to be applied in a namespace of its own.
pub struct Saga<'k> {
    /// The namespace.
    pub scene: Scene<'k>,
    /// The kind.
    pub kind: OpKind,
    /// The plan; the last draft is of that kind.
    pub drafts: Vec<Draft>,
    /// The run that will carry it out.
    pub run: u128,
    /// What will become of the last op.
    pub state: OpState,
    /// Whether the graph database has to know of it.
    pub is_mirrored: bool,
}

/// Names of a world; each kind's rows have their own numbers.
fn numbers(kind: OpKind) -> u128 {
    let place = OpKind::ALL.iter().position(|other| *other == kind).unwrap();
    (place as u128 + 1) * 1_000
}

/// One saga for each kind of op there is.
pub async fn one_of_each_op_kind(kit: &dyn WorldKit) -> Vec<Saga<'_>> {
    let mut sagas = Vec::new();
    for kind in OpKind::ALL {
        sagas.push(saga(kit, *kind).await);
    }
    sagas
}

async fn saga(kit: &dyn WorldKit, kind: OpKind) -> Saga<'_> {
    let n = numbers(kind);
    let scene = world(kit, kind).await;
    let ends = |state, is_mirrored, drafts| (drafts, state, is_mirrored);
    let (drafts, state, is_mirrored) = match kind {
        OpKind::SchemaDriftReport | OpKind::OrphanReport | OpKind::SourceChunkIdsAudit => {
            ends(OpState::Noop, false, vec![audit(kind, n)])
        }
        OpKind::DedupeEntities => {
            ends(OpState::Applied, true, vec![kept_apart(&[n + 1, n + 4]), scene.merge(n + 1, &[n + 2, n + 3]).await])
        }
        OpKind::Reabsorb => {
            let merge = scene.merge(n + 1, &[n + 2]).await;
            scene.dream(n, vec![merge]).await;
            let mention = Mention {
                id: id(n + 99),
                name: format!("Ada L. {n}"),
                entity_type: "PERSON".to_owned(),
                mention_count: 3,
                chunk: chunk(n + 50),
            };
            kit.ingest(scene.namespace.id, &mention).await;
            kit.insert(scene.namespace.id, &edge(n + 30, n + 2, n + 4, "MET")).await;
            ends(OpState::Applied, true, vec![scene.reabsorb(n + 1, n + 2).await])
        }
        OpKind::CentroidRecompute => {
            let merge = scene.merge(n + 1, &[n + 2]).await;
            let decision = if kit.has_vectors() { Decision::Centroid } else { Decision::ReEmbed };
            let state = if kit.has_vectors() { OpState::Applied } else { OpState::Skipped };
            let vector = centroid(&merge, decision);
            // The merge before it is told; the vector itself is none of the graph's business.
            ends(state, false, vec![merge, vector])
        }
        OpKind::SourceChunkIdsGc => {
            let edge = drop_references(RowKey::relationship(id(n + 10)), &[n + 10]);
            ends(OpState::Applied, true, vec![edge, drop_references(RowKey::entity(id(n + 1)), &[n + 1])])
        }
        OpKind::MirrorRepair => {
            let edge = repair(RowKey::relationship(id(n + 10)), Difference::EdgeMissing);
            ends(OpState::Applied, true, vec![edge, repair(RowKey::entity(id(n + 1)), Difference::NodeMissing)])
        }
        OpKind::SpaceExpire
        | OpKind::SpaceStaleScratch
        | OpKind::SpaceDedupeExact
        | OpKind::SpaceMerge
        | OpKind::SpacePromote
        | OpKind::SpaceDigest
        | OpKind::SpaceProfile
        | OpKind::SpaceProposal
        | OpKind::SpaceContradiction => {
            let (drafts, state) = of_space(&scene, kind, n).await;
            ends(state, false, drafts)
        }
    };
    Saga { scene, kind, drafts, run: n + 1, state, is_mirrored }
}

/// An op of a space, which has the id of the namespace. What an op writes lies beside its plan and is not there here, so one
/// that writes a text is skipped; `crate::spaces` has those.
async fn of_space(scene: &Scene<'_>, kind: OpKind, n: u128) -> (Vec<Draft>, OpState) {
    let space = scene.namespace.id;
    make_space(scene.store.as_ref(), space).await;
    let fact = |number: u128, text: &str| of_fact(&noted(n + number, text));
    let mut over = fact(3, "it rains");
    over.put(Column::ExpiresAt, Value::Time(crate::world::INGESTED_AT));
    let rows = [fact(1, "likes tea"), fact(2, "likes  TEA").with(Column::RecallCount, Value::Int(2)), over];
    scene.store.put_rows(space, &rows).await.unwrap();
    let digest = Fingerprint([7; 16]);
    let merge =
        |adds_recalls| Intent::MergeFacts { keep: id(n + 1), absorb: vec![id(n + 2)], adds_recalls, wording: None };
    let record = |kind| Intent::WriteRecord { record: id(n + 9), kind, facts: vec![id(n + 1)], body: digest };
    let (intent, state) = match kind {
        OpKind::SpaceExpire => (Intent::RemoveFact { fact: id(n + 3) }, OpState::Applied),
        OpKind::SpaceStaleScratch => (Intent::RemoveFact { fact: id(n + 1) }, OpState::Applied),
        OpKind::SpaceDedupeExact => (merge(true), OpState::Applied),
        OpKind::SpaceMerge => (merge(false), OpState::Applied),
        OpKind::SpacePromote => (Intent::MoveFact { fact: id(n + 1), tier: Tier::Core }, OpState::Applied),
        OpKind::SpaceDigest => {
            let starts_on = "2026-11-23".to_owned();
            (Intent::WriteDigest { entry: id(n + 8), starts_on, text: digest }, OpState::Skipped)
        }
        OpKind::SpaceProfile => (Intent::WriteProfile { space: space.0, text: digest }, OpState::Skipped),
        OpKind::SpaceProposal => (record(RecordKind::Proposal), OpState::Skipped),
        OpKind::SpaceContradiction => (record(RecordKind::Conflict), OpState::Skipped),
        of_graph => panic!("{of_graph} is no op on a space"),
    };
    let mut draft = audit(kind, n);
    draft.intent = intent;
    (vec![draft], state)
}

fn audit(kind: OpKind, n: u128) -> Draft {
    let mut draft = kept_apart(&[n + 1]);
    draft.kind = kind;
    draft.decision = Decision::Planned;
    draft.intent = Intent::Observe { rows: vec![id(n + 1)] };
    draft
}

/// People who are one, with edges of every sort between them.
async fn world(kit: &dyn WorldKit, kind: OpKind) -> Scene<'_> {
    let n = numbers(kind);
    let json = |text: &str| Value::Json(text.to_owned());
    let mut rows = vec![
        entity(n + 1, &format!("Ada {n}"))
            .with(Column::Description, Value::Text(String::new()))
            .with(Column::Attributes, json(r#"{"born": 1815}"#))
            .with(Column::Confidence, Value::Float(0.1)),
        entity(n + 2, &format!("Ada L. {n}"))
            .with(Column::MentionCount, Value::Int(4))
            .with(Column::Attributes, json(r#"{"born": 1816, "field": "mathematics"}"#))
            .with(Column::Confidence, Value::Float(0.514_024_269_129_619_7)),
        entity(n + 3, &format!("Countess {n}")).with(Column::Metadata, json(r#"{"aliases": ["Augusta"]}"#)),
        entity(n + 4, &format!("Bob {n}")),
        edge(n + 10, n + 2, n + 4, "KNOWS"),
        edge(n + 11, n + 1, n + 2, "IS"),
        edge(n + 12, n + 1, n + 4, "LIKES").with(Column::Properties, json(r#"{"much": 1}"#)),
        edge(n + 13, n + 3, n + 4, "LIKES").with(Column::Weight, Value::Float(2.5)),
        edge(n + 14, n + 4, n + 3, "ENDED").with(Column::ValidTo, Value::Time(crate::world::INGESTED_AT)),
    ];
    if kit.is_khoras() {
        rows.extend([temporal_edge(n + 20, n + 2, n + 4), temporal_edge(n + 21, n + 4, n + 3)]);
    }
    if kit.has_vectors() {
        for (row, tilt) in rows.iter_mut().filter(|row| row.table == Table::Entities).zip([0.0, 0.1, 0.2, 0.3]) {
            row.put(Column::Embedding, vector(7, tilt));
        }
    }
    Scene::numbered(kit, n).await.with(&rows).await.with_chunks([n + 2, n + 3, n + 4]).await
}
