//! Spaces: rows and keys, rounds, questions and answers.

use std::sync::Arc;

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, OpId, StableNamespaceId};
use dream_core::op::{Decision, Draft, Intent, OpKind, OpState, Reason};
use dream_core::plan::{Plan, rounds_hash, seal_round};
use dream_core::realm::graph::evidence::{Evidence, SpaceEvidence};
use dream_core::realm::space::effect::{RecordKind, fact_key};
use dream_core::realm::space::fact::{DreamMode, Fact, Origin, Tier};
use dream_core::realm::space::row::{fact as read_fact, of_fact};
use dream_core::run::{Admission, CLIENT_WAIT_SECONDS, Realm, RunState};
use dream_core::undo::OnChanged;
use dream_ports::apply::{GroupOutcome, GroupRequest, UndoOutcome, UndoRequest};
use dream_ports::plan::OpFilter;
use dream_ports::run::{BeginRun, Begun, Closing, Fence, Namespace};
use dream_ports::space::{AnswerOutcome, NewAnswer, NewJob, NewSpace, Round, SpacePatch, Tidied};
use dream_ports::{Store, StoreError};
use uuid::Uuid;

use crate::actor::{run, step};
use crate::kit::{WorldKit, assert_same};
use crate::world::{INGESTED_AT, id};

/// What is kept of the key of every space here.
fn key_hash(space: NamespaceId) -> [u8; 32] {
    let mut hash = [7; 32];
    hash[..16].copy_from_slice(space.0.as_bytes());
    hash
}

/// Makes a space.
pub(crate) async fn make_space(store: &dyn Store, space: NamespaceId) {
    let new = NewSpace {
        id: space,
        name: "a space".to_owned(),
        zone: "Europe/Vienna".to_owned(),
        mode: DreamMode::Client,
        key_hash: key_hash(space),
    };
    store.create_space(&new).await.unwrap();
}

/// A fact that an agent noted.
pub(crate) fn noted(number: u128, text: &str) -> Fact {
    Fact {
        id: id(number),
        subject: "user".to_owned(),
        text: text.to_owned(),
        tier: Tier::Long,
        origin: Origin::Agent,
        pinned: false,
        recall_count: 0,
        last_recalled_at: None,
        created_at: INGESTED_AT,
        updated_at: INGESTED_AT,
        expires_at: None,
        superseded_by: None,
        source: None,
    }
}

pub(crate) const TEXT: &str = "likes green tea";
pub(crate) const TEXT_DIGEST: Fingerprint = Fingerprint([1; 16]);

/// A space and its store.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) space: NamespaceId,
}

impl Place {
    pub(crate) async fn with(kit: &dyn WorldKit, facts: &[Fact]) -> Self {
        let space = NamespaceId(Uuid::from_u128(0x5bace));
        let store = kit.store();
        make_space(store.as_ref(), space).await;
        let rows: Vec<Row> = facts.iter().map(of_fact).collect();
        store.put_rows(space, &rows).await.unwrap();
        Self { store, space }
    }

    fn beginning(&self, number: u128) -> BeginRun {
        BeginRun {
            run: run(number),
            realm: Realm::Space,
            namespace: Namespace { id: self.space, stable_id: StableNamespaceId(self.space.0), is_read_only: false },
            mode: dream_core::run::Mode::Apply,
            trigger: dream_core::run::Trigger::Manual,
            holder: "a worker".to_owned(),
            engine: "local".to_owned(),
            workflow_id: None,
            input: "{}".to_owned(),
            settings: "{}".to_owned(),
            skip_reasons: Vec::new(),
            is_resume: false,
            abandon: None,
        }
    }

    pub(crate) async fn begin(&self, number: u128) -> Fence {
        match self.store.begin(&self.beginning(number)).await.unwrap() {
            Begun::Holds { fence, .. } => fence,
            other => panic!("run {number} does not hold its space: {other:?}"),
        }
    }

    pub(crate) async fn fact(&self, number: u128) -> Option<Fact> {
        let row = self.store.space_row(self.space, fact_key(id(number))).await.unwrap();
        row.map(|row| read_fact(&row).unwrap())
    }

    pub(crate) async fn seal(&self, fence: &Fence, name: &str, seq_from: u32, drafts: Vec<Draft>) -> Plan {
        self.seal_saying(fence, name, seq_from, drafts, TEXT).await
    }

    /// Seals a round whose ops write this text.
    pub(crate) async fn seal_saying(
        &self,
        fence: &Fence,
        name: &str,
        seq_from: u32,
        drafts: Vec<Draft>,
        text: &str,
    ) -> Plan {
        let plan = seal_round(fence.run, seq_from, drafts);
        let round = Round {
            plan: &plan,
            run_hash: &rounds_hash([&plan.hash]),
            step: &step(name),
            texts: &[(TEXT_DIGEST, text.to_owned())],
            skip_reasons: &[],
            is_answer: false,
        };
        assert!(self.store.append_round(fence, &round).await.unwrap());
        plan
    }

    pub(crate) async fn apply(&self, fence: &Fence) -> Vec<(OpKind, OpState, Option<Reason>)> {
        let request = GroupRequest {
            seq_to: u32::MAX >> 1,
            ops_max: 500,
            centroid_cosine_min: 0.0,
            answers: std::collections::BTreeMap::new(),
            has_graph: false,
        };
        match self.store.apply_group(fence, &request).await.unwrap() {
            GroupOutcome::Committed { ops, .. } => ops,
            GroupOutcome::Nothing => Vec::new(),
            other => panic!("the run stands still: {other:?}"),
        }
    }

    pub(crate) async fn ask(&self, fence: &Fence) {
        let job = NewJob { body: r#"{"question": "likes tea?"}"#, facts: &[], waits_for_client: true };
        self.store.ask(fence, &job).await.unwrap();
    }

    pub(crate) async fn answer(&self, number: u128, digest: u8, body: Option<&str>) -> AnswerOutcome {
        let problem = body.is_none().then_some("the answer breaks off");
        let answer = NewAnswer { digest: Fingerprint([digest; 16]), body, problem };
        self.store.answer_job(run(number), &answer).await.unwrap()
    }

    pub(crate) async fn close(&self, fence: &Fence) {
        self.store.close(fence.run, RunState::Completed, &Closing::default()).await.unwrap();
    }

    pub(crate) async fn undo(&self, number: u128) -> UndoOutcome {
        let filter = OpFilter { limit: 1_000, ..OpFilter::default() };
        let ops = self.store.ops(run(number), &filter).await.unwrap();
        let ops: Vec<OpId> = ops.iter().rev().map(|record| record.op.id).collect();
        let fence = self.store.fence_for_undo(run(number), "undo").await.unwrap();
        let request =
            UndoRequest { run: run(number), ops, on_changed: OnChanged::Overwrite, dry_run: false, has_graph: false };
        let outcome = self.store.undo_group(&fence, &request).await.unwrap();
        self.store.end_undo(&fence).await.unwrap();
        outcome
    }
}

pub(crate) fn draft(kind: OpKind, intent: Intent) -> Draft {
    Draft {
        kind,
        decision: Decision::Planned,
        rule: "suggested".to_owned(),
        intent,
        premises: Vec::new(),
        depends_on: Vec::new(),
        evidence: Evidence::Space(SpaceEvidence::default()),
    }
}

/// One op for each way in which a text is written.
pub(crate) fn writing(space: NamespaceId) -> Vec<Draft> {
    let record = |number, kind| Intent::WriteRecord { record: id(number), kind, facts: vec![id(1)], body: TEXT_DIGEST };
    let keep = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: false, wording: Some(TEXT_DIGEST) };
    let digest = Intent::WriteDigest { entry: id(50), starts_on: "2026-11-23".to_owned(), text: TEXT_DIGEST };
    vec![
        draft(OpKind::SpaceMerge, keep),
        draft(OpKind::SpacePromote, Intent::MoveFact { fact: id(3), tier: Tier::Core }),
        draft(OpKind::SpaceDigest, digest),
        draft(OpKind::SpaceProfile, Intent::WriteProfile { space: space.0, text: TEXT_DIGEST }),
        draft(OpKind::SpaceProposal, record(51, RecordKind::Proposal)),
        draft(OpKind::SpaceContradiction, record(52, RecordKind::Conflict)),
    ]
}

pub(crate) fn three() -> [Fact; 3] {
    [noted(1, "likes tea"), noted(2, "likes green tea"), noted(3, "lives in Vienna")]
}

pub async fn a_space_is_opened_by_its_keys_and_by_no_other(kit: &dyn WorldKit) {
    let place = Place::with(kit, &[]).await;
    let store = &place.store;
    let hash = key_hash(place.space);
    let first = hash[..8].try_into().unwrap();
    assert_eq!(store.keys_under(first).await.unwrap(), [(hash, place.space)]);
    assert_eq!(store.keys_under([9; 8]).await.unwrap(), []);
    store.add_space_key(place.space, &[9; 32]).await.unwrap();
    assert_eq!(store.keys_under([9; 8]).await.unwrap(), [([9; 32], place.space)]);
    assert_eq!(store.keys_under(first).await.unwrap(), [(hash, place.space)]);
    assert_eq!(store.space(place.space).await.unwrap().last_used_at, None);
    store.use_space(place.space).await.unwrap();
    let patch = SpacePatch { zone: Some("Asia/Kolkata".to_owned()), mode: Some(DreamMode::Off), name: None };
    store.change_space(place.space, &patch).await.unwrap();
    let space = store.space(place.space).await.unwrap();
    assert_eq!((space.name.as_str(), space.zone.as_str(), space.mode), ("a space", "Asia/Kolkata", DreamMode::Off));
    assert!(space.last_used_at.is_some() && space.last_dream_started_at.is_none());
    assert_eq!(store.spaces(None, 10).await.unwrap(), [space]);
    assert_eq!(store.spaces(Some(place.space), 10).await.unwrap(), []);
    let nobody = NamespaceId(id(404));
    assert!(matches!(store.space(nobody).await, Err(StoreError::NoSpace { .. })));
    assert!(matches!(store.use_space(nobody).await, Err(StoreError::NoSpace { .. })));
}

pub async fn rows_of_a_space_are_read_page_by_page_and_changed_one_by_one(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let (store, space) = (&place.store, place.space);
    let first = store.space_rows(space, Table::Facts, None, 2).await.unwrap();
    let rest = store.space_rows(space, Table::Facts, Some(first[1].id), 2).await.unwrap();
    assert_eq!([first, rest].concat(), three().map(|fact| of_fact(&fact)));
    let cells = [(Column::Pinned, Value::Bool(true)), (Column::ExpiresAt, Value::Time(INGESTED_AT))];
    let changed = store.change_row(space, fact_key(id(1)), &cells).await.unwrap().unwrap();
    assert_eq!(read_fact(&changed).unwrap(), place.fact(1).await.unwrap());
    assert!(place.fact(1).await.unwrap().pinned);
    assert_eq!(store.change_row(space, fact_key(id(9)), &cells).await.unwrap(), None);
    assert_eq!(store.recall_facts(space, &[id(1), id(3), id(9)]).await.unwrap(), 2);
    let recalled = place.fact(3).await.unwrap();
    assert!(recalled.recall_count == 1 && recalled.last_recalled_at.is_some());
    assert_eq!(store.remove_rows(space, Table::Facts, &[id(1), id(9)]).await.unwrap(), 1);
    assert_eq!(place.fact(1).await, None);
}

pub async fn a_row_of_another_space_is_neither_seen_nor_touched(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let other = NamespaceId(Uuid::from_u128(0x5bacf));
    let store = &place.store;
    make_space(store.as_ref(), other).await;
    assert_eq!(store.space_rows(other, Table::Facts, None, 10).await.unwrap(), []);
    assert_eq!(store.space_row(other, fact_key(id(1))).await.unwrap(), None);
    let cells = [(Column::Pinned, Value::Bool(true))];
    assert_eq!(store.change_row(other, fact_key(id(1)), &cells).await.unwrap(), None);
    store.put_rows(other, &[of_fact(&noted(1, "stolen"))]).await.unwrap();
    assert_eq!(store.remove_rows(other, Table::Facts, &[id(1)]).await.unwrap(), 0);
    assert_eq!(store.recall_facts(other, &[id(1)]).await.unwrap(), 0);
    assert!(!store.forget_fact(other, id(1)).await.unwrap().was_there);
    assert_eq!(place.fact(1).await, Some(noted(1, "likes tea")));
}

pub async fn actions_and_values_are_tidied_once(kit: &dyn WorldKit) {
    let place = Place::with(kit, &[]).await;
    let now = place.store.now().await.unwrap();
    let row = |table, number: u128, ends: i64, status: &str| {
        Row::empty(table, id(number))
            .with(Column::Text, Value::Text("call back".to_owned()))
            .with(Column::Key, Value::Text("k".to_owned()))
            .with(Column::Body, Value::Json("1".to_owned()))
            .with(Column::Status, Value::Text(status.to_owned()))
            .with(Column::ExpiresAt, Value::Time(now.plus_seconds(ends)))
            .with(Column::CreatedAt, Value::Time(now))
            .with(Column::UpdatedAt, Value::Time(now))
    };
    let rows = [
        row(Table::Actions, 1, -1, "pending"),
        row(Table::Actions, 2, -1, "approved"),
        row(Table::Actions, 3, -1, "done"),
        row(Table::Actions, 4, 60, "pending"),
        row(Table::KeyValues, 5, -1, ""),
        row(Table::KeyValues, 6, 60, ""),
    ];
    place.store.put_rows(place.space, &rows).await.unwrap();
    let fence = place.begin(1).await;
    let tidied = Tidied { actions_expired: 2, key_values_deleted: 1 };
    for _ in 0..2 {
        assert_eq!(place.store.tidy(&fence, "tidy", now).await.unwrap(), tidied);
    }
    let actions = place.store.space_rows(place.space, Table::Actions, None, 10).await.unwrap();
    let status: Vec<_> = actions.iter().map(|row| row.get(Column::Status).text().unwrap()).collect();
    assert_eq!(status, ["expired", "expired", "done", "pending"]);
    assert_eq!(place.store.space_rows(place.space, Table::KeyValues, None, 10).await.unwrap().len(), 1);
}

pub async fn a_round_is_sealed_behind_the_one_before(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let before = kit.content().await;
    let fence = place.begin(1).await;
    let tidy = draft(
        OpKind::SpaceDedupeExact,
        Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: true, wording: None },
    );
    let first = place.seal(&fence, "one", 1, vec![tidy.clone()]).await;
    place.seal(&fence, "one", 1, vec![tidy]).await;
    assert_eq!(place.store.run(run(1)).await.unwrap().ops_total, 1, "a round whose step is done is not sealed again");
    assert_eq!(place.apply(&fence).await.len(), 1);
    let promote = draft(OpKind::SpacePromote, Intent::MoveFact { fact: id(1), tier: Tier::Core });
    let second = place.seal(&fence, "two", 2, vec![promote]).await;
    assert_eq!((first.ops[0].seq, second.ops[0].seq), (1, 2));
    let stretch = place.store.next_stretch(run(1), 500).await.unwrap().unwrap();
    assert_eq!((stretch.seq_from, stretch.seq_to, stretch.left), (2, 2, 1));
    assert_eq!(place.apply(&fence).await, [(OpKind::SpacePromote, OpState::Applied, None)]);
    assert_eq!(place.fact(1).await.unwrap().tier, Tier::Core);
    place.close(&fence).await;
    assert_eq!(place.undo(1).await.undone, 2);
    assert_same(&kit.content().await, &before, "two rounds taken back");
    assert_eq!(place.store.run(run(1)).await.unwrap().state, RunState::Undone);
}

pub async fn what_an_answer_writes_is_written_and_taken_back(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let before = kit.content().await;
    let fence = place.begin(1).await;
    let drafts = writing(place.space);
    let kinds: Vec<OpKind> = drafts.iter().map(|draft| draft.kind).collect();
    place.seal(&fence, "answer", 1, drafts).await;
    let fates = place.apply(&fence).await;
    assert_eq!(fates.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>(), kinds, "in the order of the answer");
    assert!(fates.iter().all(|(_, state, _)| *state == OpState::Applied), "{fates:?}");
    let kept = place.fact(1).await.unwrap();
    assert_eq!((kept.text.as_str(), place.fact(2).await), (TEXT, None));
    let row = |table, number| place.store.space_row(place.space, RowKey { table, id: number });
    let cell = |row: Option<Row>, column| row.unwrap().get(column).text().unwrap().to_owned();
    assert_eq!(cell(row(Table::Journal, id(50)).await.unwrap(), Column::Text), TEXT);
    assert_eq!(cell(row(Table::Profiles, place.space.0).await.unwrap(), Column::DreamSummary), TEXT);
    assert_eq!(cell(row(Table::Records, id(51)).await.unwrap(), Column::Collection), "dream.proposals");
    assert_eq!(cell(row(Table::Records, id(52)).await.unwrap(), Column::Status), "open");
    place.close(&fence).await;
    let outcome = place.undo(1).await;
    assert_eq!((outcome.undone, outcome.changed), (6, vec![]));
    assert_same(&kit.content().await, &before, "an answer taken back");
    assert_eq!(place.undo(1).await.undone, 0);
    assert_same(&kit.content().await, &before, "taken back twice");
}

pub async fn a_protected_fact_is_touched_by_no_op(kit: &dyn WorldKit) {
    let pinned = Fact { pinned: true, expires_at: Some(INGESTED_AT), ..noted(1, "likes tea") };
    let stated = Fact { origin: Origin::User, ..noted(2, "likes green tea") };
    let place = Place::with(kit, &[pinned, stated, noted(3, "likes black tea")]).await;
    let before = kit.content().await;
    let fence = place.begin(1).await;
    let merge = |keep, absorb, wording| Intent::MergeFacts { keep, absorb: vec![absorb], adds_recalls: false, wording };
    let drafts = vec![
        draft(OpKind::SpaceExpire, Intent::RemoveFact { fact: id(1) }),
        draft(OpKind::SpaceStaleScratch, Intent::RemoveFact { fact: id(2) }),
        draft(OpKind::SpaceMerge, merge(id(3), id(1), None)),
        draft(OpKind::SpaceMerge, merge(id(3), id(2), None)),
        draft(OpKind::SpaceMerge, merge(id(2), id(3), Some(TEXT_DIGEST))),
        draft(OpKind::SpacePromote, Intent::MoveFact { fact: id(1), tier: Tier::Scratch }),
    ];
    let count = drafts.len();
    place.seal(&fence, "answer", 1, drafts).await;
    let fates = place.apply(&fence).await;
    let refused = (OpState::Failed, Some(Reason::ForbiddenEffect));
    assert_eq!(fates.iter().filter(|(_, state, reason)| (*state, *reason) == refused).count(), count, "{fates:?}");
    assert_same(&kit.content().await, &before, "protected facts");
}

pub async fn a_question_that_waits_holds_nothing(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let fence = place.begin(1).await;
    place.ask(&fence).await;
    assert!(matches!(place.store.renew(&fence).await, Err(StoreError::LeaseLost { .. })));
    let record = place.store.run(run(1)).await.unwrap();
    assert_eq!((record.state, record.waiting_for.as_deref()), (RunState::AwaitingClient, Some("answer")));
    let refused = place.store.begin(&place.beginning(2)).await.unwrap();
    assert!(matches!(refused, Begun::Refused(Admission::Waiting { run: waiting }) if waiting == run(1)), "{refused:?}");
    // Going on with it and asking again changes neither the question nor since when it waits.
    let asked = place.store.job(run(1)).await.unwrap().unwrap();
    let again = place.begin(1).await;
    let other = NewJob { body: "another question", facts: &[], waits_for_client: true };
    place.store.ask(&again, &other).await.unwrap();
    assert_eq!(place.store.job(run(1)).await.unwrap().unwrap(), asked);
    let (table, then) = (kit.dialect().own("job"), asked.asked_at.plus_seconds(-CLIENT_WAIT_SECONDS));
    kit.execute(&format!("update {table} set asked_at = {}", kit.dialect().moment(then))).await;
    match place.store.begin(&place.beginning(2)).await.unwrap() {
        Begun::Holds { abandoned, .. } => assert_eq!(abandoned, [run(1)]),
        other => panic!("a question of yesterday is given up: {other:?}"),
    }
    assert_eq!(place.store.run(run(1)).await.unwrap().state, RunState::Abandoned);
}

pub async fn an_answer_is_taken_once(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    assert_eq!(place.answer(1, 1, Some("{}")).await, AnswerOutcome::NotWaiting);
    let fence = place.begin(1).await;
    place.ask(&fence).await;
    for (digest, answers_bad) in [(1, 1), (1, 1), (2, 2), (1, 2)] {
        assert_eq!(place.answer(1, digest, None).await, AnswerOutcome::Bad { answers_bad }, "each is counted once");
    }
    assert_eq!(place.answer(1, 3, Some("{}")).await, AnswerOutcome::Accepted);
    assert_eq!(place.answer(1, 3, Some("{}")).await, AnswerOutcome::AlreadyAccepted);
    assert_eq!(place.answer(1, 4, Some("{\"a\": 1}")).await, AnswerOutcome::OtherAccepted);
    let job = place.store.job(run(1)).await.unwrap().unwrap();
    assert_eq!((job.answers_bad, job.accepted, job.answer.as_deref()), (2, Some(Fingerprint([3; 16])), Some("{}")));
    place.close(&fence).await;
    let job = place.store.job(run(1)).await.unwrap().unwrap();
    assert_eq!((job.body, job.answer), (None, None));
    assert_eq!(place.answer(1, 3, Some("{}")).await, AnswerOutcome::AlreadyAccepted, "the same report");
    assert_eq!(place.answer(1, 4, Some("{\"a\": 1}")).await, AnswerOutcome::OtherAccepted);
}

pub async fn of_many_answers_at_once_one_is_taken(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let fence = place.begin(1).await;
    place.ask(&fence).await;
    let answers = (1..=8).map(|digest| place.answer(1, digest, Some("{}")));
    let outcomes = futures::future::join_all(answers).await;
    let taken = outcomes.iter().filter(|outcome| **outcome == AnswerOutcome::Accepted).count();
    assert_eq!(taken, 1, "{outcomes:?}");
}

pub async fn what_undo_needs_is_purged_when_it_is_old(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let fence = place.begin(1).await;
    place
        .seal(&fence, "one", 1, vec![draft(OpKind::SpacePromote, Intent::MoveFact { fact: id(1), tier: Tier::Core })])
        .await;
    place.apply(&fence).await;
    let now = place.store.now().await.unwrap();
    assert_eq!(place.store.purge_space_undo(now.plus_seconds(60)).await.unwrap(), 0, "it is not over");
    place.close(&fence).await;
    assert_eq!(place.store.purge_space_undo(now.plus_seconds(-60)).await.unwrap(), 0, "it is not old");
    assert_eq!(place.store.purge_space_undo(now.plus_seconds(60)).await.unwrap(), 1);
    assert_eq!(place.store.undo_records(run(1), 0, 10).await.unwrap().len(), 0);
}
