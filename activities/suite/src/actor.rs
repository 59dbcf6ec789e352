//! What an activity does with a store, in short words: begin, seal, apply, undo, close.

use std::collections::BTreeMap;

use dream_core::algo::cosine::Score;
use dream_core::change::{Column, RowKey};
use dream_core::digest::Fingerprint;
use dream_core::id::{OpId, RunId};
use dream_core::mirror::verify::Difference;
use dream_core::op::{Decision, Draft, Intent, OpKind, OpState, Premise, Reason};
use dream_core::plan::{Plan, PlanHash, seal as seal_drafts};
use dream_core::realm::graph::evidence::{
    CentroidEvidence, DropEvidence, Evidence, MergeEvidence, ReabsorbEvidence, RepairEvidence,
};
use dream_core::run::{Mode, Realm, RunState, Trigger};
use dream_core::undo::OnChanged;
use dream_core::verdict::name_key;
use dream_ports::StoreError;
use dream_ports::apply::{GroupOutcome, GroupRequest, UndoOutcome, UndoRequest};
use dream_ports::plan::{OpFilter, OpRecord, Step};
use dream_ports::run::{BeginRun, Begun, Closing, Fence};
use uuid::Uuid;

use crate::world::{Scene, chunk, id};

/// A run by its number.
pub fn run(number: u128) -> RunId {
    RunId(Uuid::from_u128(0xf000_0000_0000_7000_8000_0000_0000_0000 + number))
}

/// What became of an op: kind, state and reason.
pub type Fate = (OpKind, OpState, Option<Reason>);

/// A step of a run that says nothing.
pub fn step(name: &str) -> Step {
    Step { name: name.to_owned(), summary: "{}".to_owned() }
}

impl Scene<'_> {
    /// A run that wants to start on this namespace.
    pub fn beginning(&self, number: u128) -> BeginRun {
        BeginRun {
            run: run(number),
            realm: Realm::Graph,
            namespace: self.namespace.clone(),
            mode: Mode::Apply,
            trigger: Trigger::Manual,
            holder: format!("worker of run {number}"),
            engine: "local".to_owned(),
            workflow_id: None,
            input: "{}".to_owned(),
            settings: "{}".to_owned(),
            skip_reasons: Vec::new(),
            is_resume: false,
            abandon: None,
        }
    }

    /// Begins a run that nothing stands against.
    pub async fn begin(&self, number: u128) -> Fence {
        match self.store.begin(&self.beginning(number)).await.unwrap() {
            Begun::Holds { fence, .. } => fence,
            other => panic!("run {number} does not hold its target: {other:?}"),
        }
    }

    /// Seals drafts as the plan of a run.
    pub async fn seal(&self, fence: &Fence, drafts: Vec<Draft>) -> Plan {
        let plan = seal_drafts(fence.run, drafts);
        let audit = PlanHash("0".repeat(64));
        self.store.write_plan(fence, &plan, &audit, &step("seal")).await.unwrap();
        plan
    }

    /// Begins a run with a sealed plan.
    pub async fn planned(&self, number: u128, drafts: Vec<Draft>) -> (Fence, Plan) {
        let fence = self.begin(number).await;
        let plan = self.seal(&fence, drafts).await;
        (fence, plan)
    }

    /// A run that carries its plan out and ends.
    pub async fn dream(&self, number: u128, drafts: Vec<Draft>) -> Vec<Fate> {
        let (fence, _) = self.planned(number, drafts).await;
        let fates = self.apply_all(&fence).await;
        self.close(&fence).await;
        fates
    }

    /// Carries out one group.
    pub async fn apply_group(&self, fence: &Fence, ops_max: u32) -> Result<GroupOutcome, StoreError> {
        self.store.apply_group(fence, &group(ops_max)).await
    }

    /// Carries out all that is left.
    pub async fn apply_all(&self, fence: &Fence) -> Vec<Fate> {
        let mut fates = Vec::new();
        loop {
            match self.apply_group(fence, 500).await.unwrap() {
                GroupOutcome::Committed { ops, .. } => fates.extend(ops),
                GroupOutcome::Nothing => return fates,
                other => panic!("the run stands still: {other:?}"),
            }
        }
    }

    /// Ends a run.
    pub async fn close(&self, fence: &Fence) {
        self.store.close(fence.run, RunState::Completed, &Closing::default()).await.unwrap();
    }

    /// The ops of a run.
    pub async fn ops(&self, number: u128) -> Vec<OpRecord> {
        self.store.ops(run(number), &OpFilter { limit: u32::MAX, ..OpFilter::default() }).await.unwrap()
    }

    /// Takes a closed run back, newest op first.
    pub async fn undo(&self, number: u128, on_changed: OnChanged) -> UndoOutcome {
        let mut ops: Vec<OpId> = self.ops(number).await.iter().map(|record| record.op.id).collect();
        ops.reverse();
        self.undo_ops(number, ops, on_changed).await
    }

    /// Takes some ops of a closed run back.
    pub async fn undo_ops(&self, number: u128, ops: Vec<OpId>, on_changed: OnChanged) -> UndoOutcome {
        let fence = self.store.fence_for_undo(run(number), "undoer").await.unwrap();
        let request = UndoRequest { run: run(number), ops, on_changed, dry_run: false, has_graph: true };
        let outcome = self.store.undo_group(&fence, &request).await.unwrap();
        self.store.end_undo(&fence).await.unwrap();
        outcome
    }

    /// The digest of an entity's name and type, as it stands.
    pub async fn name_of(&self, number: u128) -> Fingerprint {
        let key = self.store.text_key().await.unwrap();
        let row = self.entity(number).await;
        let text = |column| row.get(column).text().unwrap_or_default().to_owned();
        name_key(&key, &text(Column::Name), &text(Column::EntityType))
    }

    /// A premise that an entity is as it stands.
    pub async fn as_it_stands(&self, number: u128) -> Premise {
        Premise::Entity { entity: id(number), name_and_type: self.name_of(number).await }
    }

    /// A merge that relies on names, types and life of its members.
    pub async fn merge(&self, keep: u128, absorb: &[u128]) -> Draft {
        let mut premises = Vec::new();
        for member in std::iter::once(&keep).chain(absorb) {
            premises.push(self.as_it_stands(*member).await);
        }
        merge(keep, absorb, premises)
    }

    /// A re-absorption of what ingestion brought back.
    pub async fn reabsorb(&self, keep: u128, absorbed: u128) -> Draft {
        let premises = vec![
            Premise::Alias { absorbed: id(absorbed), keep: id(keep) },
            Premise::EntityNamed { entity: id(absorbed), name_and_type: self.name_of(absorbed).await },
            self.as_it_stands(keep).await,
        ];
        let evidence = Evidence::Reabsorb(ReabsorbEvidence { revived: true, mentions_new: 1, edges_live: 0 });
        let intent = Intent::Reabsorb { keep: id(keep), absorbed: id(absorbed) };
        draft(OpKind::Reabsorb, Decision::Planned, intent, premises, evidence)
    }
}

/// A group without answers.
pub fn group(ops_max: u32) -> GroupRequest {
    GroupRequest { seq_to: u32::MAX, ops_max, centroid_cosine_min: 0.88, answers: BTreeMap::new(), has_graph: true }
}

fn draft(kind: OpKind, decision: Decision, intent: Intent, premises: Vec<Premise>, evidence: Evidence) -> Draft {
    Draft { kind, decision, rule: "suite".to_owned(), intent, premises, depends_on: Vec::new(), evidence }
}

/// A merge that relies on what it is told to.
pub fn merge(keep: u128, absorb: &[u128], premises: Vec<Premise>) -> Draft {
    let evidence = Evidence::Merge(MergeEvidence {
        members: u32::try_from(absorb.len() + 1).unwrap(),
        pairs: Vec::new(),
        every_pair_reached_cosine_threshold: true,
    });
    let absorb = absorb.iter().copied().map(id).collect();
    draft(
        OpKind::DedupeEntities,
        Decision::Planned,
        Intent::MergeEntities { keep: id(keep), absorb },
        premises,
        evidence,
    )
}

/// A new vector for the survivor of a merge.
pub fn centroid(merge: &Draft, decision: Decision) -> Draft {
    let Intent::MergeEntities { keep, absorb } = &merge.intent else { panic!("not a merge") };
    let mut members: Vec<Uuid> = absorb.iter().copied().chain([*keep]).collect();
    members.sort_unstable();
    let evidence = Evidence::Centroid(CentroidEvidence {
        members: 2,
        vectors: 2,
        cosine_min: Some(Score(9_500)),
        edit_distance_max: 1,
    });
    let intent = Intent::Centroid { entity: *keep, members };
    let mut draft = draft(OpKind::CentroidRecompute, decision, intent, Vec::new(), evidence);
    draft.depends_on = vec![merge.content_key()];
    draft
}

/// A removal of dead references.
pub fn drop_references(row: RowKey, chunks: &[u128]) -> Draft {
    let evidence = Evidence::Drop(DropEvidence { references: 3, dead: 1 });
    let intent = Intent::DropReferences { row, chunks: chunks.iter().copied().map(chunk).collect() };
    draft(OpKind::SourceChunkIdsGc, Decision::Planned, intent, vec![Premise::RowLive { row }], evidence)
}

/// A repair of what the graph says of a row.
pub fn repair(row: RowKey, difference: Difference) -> Draft {
    let evidence = Evidence::Repair(RepairEvidence { difference });
    draft(
        OpKind::MirrorRepair,
        Decision::Planned,
        Intent::Repair { row, ends: None, columns: BTreeMap::new() },
        Vec::new(),
        evidence,
    )
}

/// An explanation why entities stay apart.
pub fn kept_apart(rows: &[u128]) -> Draft {
    let evidence = Evidence::Reabsorb(ReabsorbEvidence { revived: false, mentions_new: 0, edges_live: 0 });
    let intent = Intent::Observe { rows: rows.iter().copied().map(id).collect() };
    draft(OpKind::DedupeEntities, Decision::KeptApart, intent, Vec::new(), evidence)
}
