//! Small made-up runs, one for each way in which a run can end.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::algo::cosine::Score;
use crate::apply::EffectNumbers;
use crate::change::{Column, ColumnChange, Existence, RowChange, RowKey, Table, Value};
use crate::clock::Moment;
use crate::digest::Fingerprint;
use crate::failure::Code;
use crate::id::{NamespaceId, RunId, StableNamespaceId};
use crate::op::{Decision, Draft, Intent, Op, OpKind, OpState, Premise, Reason};
use crate::plan::PlanHash;
use crate::realm::graph::dedupe::{
    AttributeEvidence, CosineEvidence, KeptApartReason, NameEvidence, NameKey, NameRelation, NeighbourEvidence,
    NotScored, PairEvidence, Rule, SharedEvidence, Support, Veto,
};
use crate::realm::graph::drift::DriftReport;
use crate::realm::graph::edges::EdgeNumbers;
use crate::realm::graph::evidence::{
    CentroidEvidence, CollisionEvidence, DropEvidence, Evidence, MergeEvidence, ReabsorbEvidence,
};
use crate::realm::graph::orphan::{Orphan, Recall};
use crate::realm::graph::references::{Offender, ReferenceAudit};
use crate::redact::Redaction;
use crate::report::event::{Event, closing, opening};
use crate::report::facts::{AuditFacts, Finding, OpFacts, RunFacts, TableAudit};
use crate::report::lens::{EntityName, Lens};
use crate::report::line::line;
use crate::report::manifest::{FileEntry, Manifest};
use crate::report::summary::Summary;
use crate::report::undo::UndoExport;
use crate::run::{Counts, Mode, Realm, RunState, SkipReason, Trigger};
use crate::settings::Settings;
use crate::undo::UndoRecord;

/// A run with everything a report is made from.
pub(super) struct World {
    pub(super) run: RunFacts,
    pub(super) audits: Vec<AuditFacts>,
    pub(super) ops: Vec<OpFacts>,
    pub(super) names: BTreeMap<Uuid, (String, String)>,
}

/// The files of a report.
pub(super) struct Files {
    pub(super) events: String,
    pub(super) undo: String,
    pub(super) summary: String,
    pub(super) manifest: String,
}

pub(super) fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x1111_0000_0000_4000_8000_0000_0000_0000 + number)
}

const START: Moment = Moment::from_micros(1_772_334_245_000_000);

impl World {
    pub(super) fn events(&self) -> Vec<Event<'_>> {
        let mut events = opening(&self.run);
        events.extend(self.audits.iter().map(Event::Audit));
        events.extend(self.ops.iter().map(Event::Op));
        events.extend(closing(&self.run));
        events
    }

    pub(super) fn name(&self, entity: Uuid) -> Option<EntityName<'_>> {
        self.names.get(&entity).map(|(name, entity_type)| EntityName { name, entity_type })
    }

    /// Writes the report as a sink would.
    pub(super) fn files(&self, redaction: &Redaction) -> Files {
        let names = |entity| self.name(entity);
        let lens = Lens::new(redaction, &names);
        let mut undo = UndoExport::new(&self.run, redaction);
        let mut summary = Summary::new(&self.run);
        let (mut lines, mut export) = (String::new(), undo.open());
        for event in self.events() {
            lines.push_str(&line(&self.run, &event, &lens));
            export.push_str(&undo.feed(&event).unwrap_or_default());
            summary.feed(&event);
        }
        export.push_str(undo.close());
        let page = summary.page(&lens);
        let mut manifest = Manifest::new(&self.run, redaction.degree(), START.plus_seconds(13));
        for (name, content) in [("events.jsonl", &lines), ("undo.json", &export), ("summary.md", &page)] {
            manifest.add(format!("{}.{name}", self.run.run), FileEntry::of(content.as_bytes()));
        }
        Files { events: lines, undo: export, summary: page, manifest: manifest.text() }
    }
}

fn run(mode: Mode, state: RunState) -> RunFacts {
    RunFacts {
        run: RunId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001)),
        realm: Realm::Graph,
        namespace: StableNamespaceId(Uuid::from_u128(0x4814_0776_f36b_40e5_8e98_a60e_4a59_4578)),
        namespace_row: NamespaceId(Uuid::from_u128(0x9a9a_0000_0000_4000_8000_0000_0000_0002)),
        store: "default".into(),
        mode,
        trigger: Trigger::Manual,
        is_resumed: false,
        plan_of: None,
        state,
        as_of: START,
        started_at: START,
        sealed_at: Some(START.plus_seconds(5)),
        finished_at: (!state.is_open()).then(|| START.plus_seconds(12)),
        plan_hash: Some(PlanHash("5e".repeat(32))),
        audit_hash: Some(PlanHash("a0".repeat(32))),
        ops_total: 0,
        counts: Counts::new(),
        skip_reasons: vec![SkipReason {
            op_kind: OpKind::DedupeEntities,
            reason: Reason::MissingEntityEmbedding,
            count: Some(3),
        }],
        kept_apart_unlisted: BTreeMap::from([(KeptApartReason::Unsupported, 12)]),
        failure: None,
        settings: Settings::default(),
    }
}

pub(super) fn names() -> BTreeMap<Uuid, (String, String)> {
    let named = [
        (1, "OpenAI", "ORGANIZATION"),
        (2, "Open AI", "ORGANIZATION"),
        (3, "OpenAI Inc.", "ORGANIZATION"),
        (4, "Marie Skłodowska-Curie", "PERSON"),
        (5, "M. Curie", "PERSON"),
        (6, "GPT-3", "MODEL"),
        (7, "GPT-4", "MODEL"),
        (8, "John Demol", "PERSON"),
        (9, "John Demol Jr.", "PERSON"),
        (10, "Acme", "ORGANIZATION"),
        (11, "Acme Ltd", "ORGANIZATION"),
        (12, "Acme Holding", "ORGANIZATION"),
        (13, "Zürich", "PLACE"),
        (14, "Zurich", "PLACE"),
    ];
    named.into_iter().map(|(number, name, kind)| (id(number), (name.into(), kind.into()))).collect()
}

pub(super) fn pair(left: u128, right: u128, rule: Rule) -> PairEvidence {
    PairEvidence {
        left: id(left),
        right: id(right),
        names: NameEvidence {
            keys: vec![NameKey::Folded],
            relation: NameRelation::Same,
            similarity: Score::ONE,
            left_only: 0,
            right_only: 0,
        },
        cosine: CosineEvidence::NotScored(NotScored::NotNeeded),
        attributes: AttributeEvidence::default(),
        neighbours: NeighbourEvidence::default(),
        chunks: SharedEvidence::default(),
        rule,
        vetoes: vec![],
        missing: vec![],
    }
}

fn words(relation: NameRelation, similarity: i16, left_only: u8, right_only: u8) -> NameEvidence {
    NameEvidence { keys: vec![NameKey::Core], relation, similarity: Score(similarity), left_only, right_only }
}

fn open_ai_pairs() -> Vec<PairEvidence> {
    let shared = PairEvidence {
        names: words(NameRelation::SameWords, 9_300, 0, 1),
        cosine: CosineEvidence::Scored(Score(9_712)),
        attributes: AttributeEvidence { shared: 2, conflicting: 1 },
        neighbours: NeighbourEvidence { shared: 2, telling: 1, left: 4, right: 3, linked: false },
        chunks: SharedEvidence { shared: 1, left: 5, right: 2 },
        ..pair(1, 3, Rule::NamesAndCosine)
    };
    vec![pair(1, 2, Rule::SameLetters), shared]
}

fn merge(keep: u128, absorb: &[u128], pairs: Vec<PairEvidence>, rule: &str) -> Draft {
    let members = std::iter::once(&keep).chain(absorb);
    let mut premises: Vec<Premise> = members
        .map(|member| Premise::Entity { entity: id(*member), name_and_type: Fingerprint([7; 16]) })
        .collect();
    let by_vectors = pairs.iter().filter(|pair| pair.rule == Rule::NamesAndCosine);
    premises.extend(by_vectors.map(|pair| Premise::Cosine { left: pair.left, right: pair.right, score_min: Score(9_000) }));
    Draft {
        kind: OpKind::DedupeEntities,
        decision: Decision::Planned,
        rule: rule.into(),
        intent: Intent::MergeEntities { keep: id(keep), absorb: absorb.iter().copied().map(id).collect() },
        premises,
        depends_on: vec![],
        evidence: Evidence::Merge(MergeEvidence {
            members: u32::try_from(absorb.len() + 1).unwrap(),
            pairs,
            every_pair_reached_cosine_threshold: false,
        }),
    }
}

fn centroid(parent: &Draft, decision: Decision, rule: &str) -> Draft {
    let Intent::MergeEntities { keep, absorb } = &parent.intent else { unreachable!() };
    let mut members = vec![*keep];
    members.extend(absorb);
    Draft {
        kind: OpKind::CentroidRecompute,
        decision,
        rule: rule.into(),
        evidence: Evidence::Centroid(CentroidEvidence {
            members: u32::try_from(members.len()).unwrap(),
            vectors: 2,
            cosine_min: Some(Score(9_512)),
            edit_distance_max: 5,
        }),
        intent: Intent::Centroid { entity: *keep, members },
        premises: vec![],
        depends_on: vec![parent.content_key()],
    }
}

fn apart(rule: &str, evidence: PairEvidence) -> Draft {
    Draft {
        kind: OpKind::DedupeEntities,
        decision: Decision::KeptApart,
        rule: rule.into(),
        intent: Intent::Observe { rows: vec![evidence.left, evidence.right] },
        premises: vec![],
        depends_on: vec![],
        evidence: Evidence::Apart(Box::new(evidence)),
    }
}

fn gc(row: RowKey, chunks: &[u128], references: u32) -> Draft {
    Draft {
        kind: OpKind::SourceChunkIdsGc,
        decision: Decision::Planned,
        rule: "dead_references".into(),
        intent: Intent::DropReferences { row, chunks: chunks.iter().copied().map(id).collect() },
        premises: vec![Premise::RowLive { row }],
        depends_on: vec![],
        evidence: Evidence::Drop(DropEvidence { references, dead: u32::try_from(chunks.len()).unwrap() }),
    }
}

fn drafts() -> Vec<Draft> {
    let open_ai = merge(1, &[2, 3], open_ai_pairs(), "names_and_cosine");
    let curie_pair = PairEvidence {
        names: words(NameRelation::Shortened, 7_100, 1, 0),
        cosine: CosineEvidence::Scored(Score(7_420)),
        chunks: SharedEvidence { shared: 2, left: 9, right: 2 },
        ..pair(4, 5, Rule::NamesAndContext)
    };
    let curie = merge(4, &[5], vec![curie_pair], "names_and_context");
    let zurich = merge(13, &[14], vec![pair(13, 14, Rule::SameLetters)], "same_letters");
    let numbers = PairEvidence { vetoes: vec![Veto::DifferentNumbers], ..pair(6, 7, Rule::Veto) };
    let suffix = PairEvidence { vetoes: vec![Veto::GenerationalSuffix], ..pair(8, 9, Rule::Veto) };
    let alone = PairEvidence {
        names: words(NameRelation::Extended, 8_200, 0, 1),
        cosine: CosineEvidence::NotScored(NotScored::Absent),
        neighbours: NeighbourEvidence { shared: 0, telling: 0, left: 2, right: 3, linked: false },
        missing: vec![Support::CosineAtThreshold, Support::SharedChunk],
        ..pair(10, 12, Rule::NoSupport)
    };
    let collision = Draft {
        decision: Decision::SkipUniqueCollision,
        rule: "skip_unique_collision".into(),
        intent: Intent::Observe { rows: vec![id(10), id(11)] },
        evidence: Evidence::Collision(CollisionEvidence { members: 2, with: id(12) }),
        ..apart("", pair(10, 11, Rule::SameWords))
    };
    let reabsorb = Draft {
        kind: OpKind::Reabsorb,
        decision: Decision::Planned,
        rule: "absorbed_before".into(),
        intent: Intent::Reabsorb { keep: id(10), absorbed: id(11) },
        premises: vec![Premise::Alias { absorbed: id(11), keep: id(10) }],
        depends_on: vec![],
        evidence: Evidence::Reabsorb(ReabsorbEvidence { revived: true, mentions_new: 2, edges_live: 1 }),
    };
    vec![
        open_ai.clone(),
        centroid(&open_ai, Decision::ReEmbed, "joined_by_other_evidence"),
        curie.clone(),
        centroid(&curie, Decision::Centroid, "close_names"),
        zurich,
        apart("different_numbers", numbers),
        apart("generational_suffix", suffix),
        apart("unsupported", alone),
        collision,
        reabsorb,
        gc(RowKey::entity(id(1)), &[901, 902, 903], 8),
        gc(RowKey::relationship(id(501)), &[901], 2),
        gc(RowKey::entity(id(6)), &[904], 1),
    ]
}

fn audits() -> Vec<AuditFacts> {
    let drift = DriftReport {
        new_entity_types: vec!["MODEL".into()],
        unused_entity_types: vec!["EVENT".into()],
        entity_frequency_delta: BTreeMap::from([("PERSON".into(), (2, 6))]),
        entity_frequencies: BTreeMap::from([("MODEL".into(), 2), ("PERSON".into(), 6)]),
        relationship_frequencies: BTreeMap::from([("KNOWS".into(), 9)]),
        entity_total: 8,
        relationship_total: 9,
        has_baseline: true,
        ..DriftReport::default()
    };
    let orphan = |number, recalled| {
        let archive_candidate = true;
        Finding::Orphan(Orphan { entity_id: id(number), pr_score: 0.0375, mention_count: 1, recalled, archive_candidate })
    };
    let references = ReferenceAudit {
        total_rows: 14,
        total_references: 60,
        total_dead_uuids: 5,
        length_p50: 4,
        length_p90: 8,
        length_p99: 9,
        length_max: 9,
        top_offenders: vec![Offender { id: id(1), length: 8, dead_uuid_count: 3 }],
    };
    let edges = ReferenceAudit { total_rows: 9, total_references: 9, total_dead_uuids: 1, ..ReferenceAudit::default() };
    vec![
        AuditFacts::of(OpKind::SchemaDriftReport, vec![Finding::Drift(Box::new(drift))]),
        AuditFacts {
            entities: Some(14),
            relationships: Some(9),
            ..AuditFacts::of(OpKind::OrphanReport, vec![orphan(9, Recall::Never), orphan(12, Recall::LongAgo)])
        },
        AuditFacts::of(
            OpKind::SourceChunkIdsAudit,
            vec![
                Finding::References(TableAudit { table: Table::Entities, audit: references }),
                Finding::References(TableAudit { table: Table::Relationships, audit: edges }),
            ],
        ),
    ]
}

fn world(mode: Mode, state: RunState, settle: impl Fn(&mut OpFacts)) -> World {
    let mut run = run(mode, state);
    let sealed = (1..).zip(drafts()).map(|(seq, draft)| OpFacts::of(Op::seal(run.run, seq, draft)));
    let ops: Vec<OpFacts> = sealed
        .map(|mut op| {
            settle(&mut op);
            op
        })
        .collect();
    run.ops_total = u32::try_from(ops.len()).unwrap();
    for op in &ops {
        *run.counts.entry(op.op.draft.kind).or_default().entry(op.op.state).or_default() += 1;
    }
    World { run, audits: audits(), ops, names: names() }
}

/// A dry run: everything that is to be done stays sealed.
pub(super) fn dry_run() -> World {
    world(Mode::DryRun, RunState::Completed, |_| {})
}

/// A plan that waits for a person.
pub(super) fn waiting() -> World {
    world(Mode::Review, RunState::AwaitingReview, |_| {})
}

/// An apply in which an op came to each of the outcomes.
pub(super) fn applied() -> World {
    let mut world = world(Mode::Apply, RunState::PartlyUndone, |op| match op.op.seq {
        1 => apply(op, merge_numbers(), merge_changes()),
        2 => settle(op, OpState::Skipped, Reason::NoEmbedding),
        3 => {
            apply(op, EffectNumbers { absorbed: 1, mentions_added: 2, ..Default::default() }, retire(5));
            op.op.state = OpState::Undone;
            op.undone_at = Some(START.plus_seconds(3_600));
        }
        4 => apply(op, EffectNumbers { vectors_set: 1, ..Default::default() }, vector_changes()),
        5 => settle(op, OpState::Stale, Reason::NameOrTypeChanged),
        10 => {
            let edges = EdgeNumbers { moved: 1, ..Default::default() };
            let numbers = EffectNumbers { absorbed: 1, mentions_added: 2, edges, ..Default::default() };
            apply(op, numbers, retire(11));
        }
        11 => apply(op, EffectNumbers { references_removed: 3, ..Default::default() }, gc_changes()),
        12 => {
            op.op.state = OpState::Noop;
            op.applied_at = Some(START.plus_seconds(9));
        }
        13 => settle(op, OpState::Failed, Reason::StoreRefused),
        _ => {}
    });
    world.run.plan_of = Some(RunId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000)));
    world.run.store = "night shift".into();
    world
}

/// An apply that a person stopped after its first op.
pub(super) fn cancelled() -> World {
    world(Mode::Apply, RunState::Cancelled, |op| {
        if op.op.seq == 1 {
            apply(op, merge_numbers(), merge_changes());
        }
    })
}

/// A run whose store went away while it planned.
pub(super) fn failed() -> World {
    let mut world = world(Mode::Apply, RunState::Failed, |_| {});
    world.run.plan_hash = None;
    world.run.audit_hash = None;
    world.run.sealed_at = None;
    world.run.failure = Some(Code::StoreUnavailable);
    world.run.ops_total = 0;
    world.run.counts = Counts::new();
    world.run.skip_reasons = vec![];
    world.run.kept_apart_unlisted = BTreeMap::new();
    world.ops = vec![];
    world.audits = vec![];
    world
}

fn settle(op: &mut OpFacts, state: OpState, reason: Reason) {
    op.op.state = state;
    op.op.reason = Some(reason);
}

fn apply(op: &mut OpFacts, numbers: EffectNumbers, changes: Vec<RowChange>) {
    op.op.state = OpState::Applied;
    op.numbers = Some(numbers);
    op.applied_at = Some(START.plus_seconds(7));
    op.undo = Some(UndoRecord::of(&changes));
}

fn merge_numbers() -> EffectNumbers {
    EffectNumbers {
        absorbed: 2,
        mentions_added: 14,
        sources_dropped: 0,
        attributes_conflicting: 1,
        edges: EdgeNumbers { moved: 3, self_loops_retired: 1, parallels_folded: 1, parallels_kept: 0, temporal_moved: 0 },
        references_removed: 0,
        vectors_set: 0,
    }
}

fn kept(key: RowKey, columns: Vec<(Column, Value, Value)>) -> RowChange {
    let columns = columns.into_iter().map(|(column, before, after)| ColumnChange { column, before: before.into(), after });
    RowChange { key, existence: Existence::Kept, columns: columns.collect() }
}

pub(super) fn merge_changes() -> Vec<RowChange> {
    let json = |text: &str| Value::Json(text.into());
    let ids = |numbers: &[u128]| Value::Ids(numbers.iter().copied().map(id).collect());
    let alias = ColumnChange {
        column: Column::Name,
        before: Value::Null.into(),
        after: Value::Text("Open AI".into()),
    };
    let mut changes = vec![
        kept(
            RowKey::entity(id(1)),
            vec![
                (Column::Description, Value::Text(String::new()), Value::Text("makes models".into())),
                (Column::Attributes, json(r#"{"hq":"San Francisco"}"#), json(r#"{"ceo":"S.A.","hq":"San Francisco"}"#)),
                (Column::SourceChunkIds, ids(&[901, 910]), ids(&[901, 910, 911])),
                (Column::MentionCount, Value::Int(5), Value::Int(19)),
            ],
        ),
        kept(
            RowKey::relationship(id(501)),
            vec![(Column::SourceEntityId, Value::Id(id(3)), Value::Id(id(1)))],
        ),
        kept(
            RowKey::relationship(id(502)),
            vec![
                (Column::InvalidatedAt, Value::Null, Value::Time(START)),
                (Column::InvalidatedBy, Value::Null, Value::Id(id(77))),
            ],
        ),
        RowChange {
            key: RowKey { table: Table::Aliases, id: id(2) },
            existence: Existence::Created,
            columns: vec![alias],
        },
    ];
    changes.extend(retire(2));
    changes
}

fn retire(number: u128) -> Vec<RowChange> {
    vec![kept(RowKey::entity(id(number)), vec![(Column::ValidUntil, Value::Null, Value::Time(START.plus_seconds(7)))])]
}

fn vector_changes() -> Vec<RowChange> {
    let vector = |number: f32| Value::Vector(vec![number, 0.5]);
    vec![kept(RowKey::entity(id(4)), vec![(Column::Embedding, vector(0.25), vector(0.125))])]
}

fn gc_changes() -> Vec<RowChange> {
    let ids = |numbers: &[u128]| Value::Ids(numbers.iter().copied().map(id).collect());
    let columns = vec![(Column::SourceChunkIds, ids(&[901, 902, 903, 910]), ids(&[910]))];
    vec![kept(RowKey::entity(id(1)), columns)]
}
