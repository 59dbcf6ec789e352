//! Small made-up runs, one for each way in which a run can end.

mod changes;
mod drafts;
mod findings;

use std::collections::BTreeMap;

use uuid::Uuid;

pub(super) use self::changes::merge_changes;
use self::changes::{gc_changes, merge_numbers, retire, vector_changes};
use self::drafts::drafts;
use self::findings::audits;
use crate::apply::EffectNumbers;
use crate::change::RowChange;
use crate::clock::Moment;
use crate::failure::Code;
use crate::id::{NamespaceId, RunId, StableNamespaceId};
use crate::op::{Op, OpKind, OpState, Reason};
use crate::plan::PlanHash;
use crate::realm::graph::dedupe::KeptApartReason;
use crate::realm::graph::edges::EdgeNumbers;
use crate::redact::Redaction;
use crate::report::event::{Event, closing, opening};
use crate::report::facts::{AuditFacts, OpFacts, RunFacts};
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
        store_argument: None,
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
        edge_source: None,
        graph_left: 0,
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
        1 => apply(op, merge_numbers(), &merge_changes()),
        2 => settle(op, OpState::Skipped, Reason::NoEmbedding),
        3 => {
            apply(op, EffectNumbers { absorbed: 1, mentions_added: 2, ..Default::default() }, &retire(5));
            op.op.state = OpState::Undone;
            op.undone_at = Some(START.plus_seconds(3_600));
        }
        4 => apply(op, EffectNumbers { vectors_set: 1, ..Default::default() }, &vector_changes()),
        5 => settle(op, OpState::Stale, Reason::NameOrTypeChanged),
        10 => {
            let edges = EdgeNumbers { moved: 1, ..Default::default() };
            let numbers = EffectNumbers { absorbed: 1, mentions_added: 2, edges, ..Default::default() };
            apply(op, numbers, &retire(11));
        }
        11 => apply(op, EffectNumbers { references_removed: 3, ..Default::default() }, &gc_changes()),
        12 => {
            op.op.state = OpState::Noop;
            op.applied_at = Some(START.plus_seconds(9));
        }
        13 => settle(op, OpState::Failed, Reason::StoreRefused),
        _ => {}
    });
    world.run.plan_of = Some(RunId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000)));
    world.run.store = "night shift".into();
    world.run.store_argument = Some("night shift".into());
    world
}

/// An apply that a person stopped after its first op.
pub(super) fn cancelled() -> World {
    world(Mode::Apply, RunState::Cancelled, |op| {
        if op.op.seq == 1 {
            apply(op, merge_numbers(), &merge_changes());
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

fn apply(op: &mut OpFacts, numbers: EffectNumbers, changes: &[RowChange]) {
    op.op.state = OpState::Applied;
    op.numbers = Some(numbers);
    op.applied_at = Some(START.plus_seconds(7));
    op.undo = Some(UndoRecord::of(changes));
}
