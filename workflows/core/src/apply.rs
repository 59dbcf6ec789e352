//! Carrying out the ops of one group on its locked rows.
//!
//! The store opens a transaction, checks the fence, locks the op rows and asks [`Group::needs`] until nothing more is needed;
//! then [`Group::decide`] runs the ops in order, in memory, and answers everything that has to be written.
//!
//! **Invariant:** what is answered is complete: state, undo record, outbox verbs, touched rows and verdicts of each op. The
//! store writes all of it in the transaction that holds the locks, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::algo::cosine::between;
use crate::change::{Column, RowChange, RowKey, Table, Value};
use crate::clock::Moment;
use crate::digest::{Fingerprint, TextKey};
use crate::guard;
use crate::id::{ContentKey, OpId};
use crate::mirror::{Verb, verbs, verbs_of_undo};
use crate::op::{Decision, Intent, Op, OpState, Premise, Reason};
use crate::realm::graph::centroid::EmbeddingAnswer;
use crate::realm::graph::edges::EdgeNumbers;
use crate::realm::graph::{centroid, gc, merge, reabsorb};
use crate::realm::space::{effect, ticket};
use crate::rows::{Editor, Needs, NotLoaded, Rows};
use crate::undo::UndoRecord;
use crate::verdict::{NamePair, Ruling, Verdict, row_name_key};

/// What the ops of a group need to know besides rows.
#[derive(Clone, Debug)]
pub struct Context {
    /// The moment of this group, by the store's clock.
    pub now: Moment,
    /// The store's key for digests of memory text.
    pub text_key: TextKey,
    /// Least cosine between two members of a cluster whose vectors are averaged.
    pub centroid_cosine_min: f32,
    /// Vectors that an embedder made, by the content key of the op that asked for them.
    pub answers: BTreeMap<ContentKey, EmbeddingAnswer>,
    /// Texts that ops of a space write, by their digests; one that was forgotten is missing.
    pub texts: BTreeMap<Fingerprint, String>,
}

/// What an op did, in numbers: for reports, never for decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EffectNumbers {
    /// Entities retired in favour of a survivor.
    pub absorbed: u32,
    /// Mentions that the survivor gained.
    pub mentions_added: i64,
    /// Source ids that found no room under Khora's caps.
    pub sources_dropped: u32,
    /// Attribute values that were not taken and are kept as alternatives.
    pub attributes_conflicting: u32,
    /// What became of the edges.
    pub edges: EdgeNumbers,
    /// Dead references removed.
    pub references_removed: u32,
    /// Vectors set.
    pub vectors_set: u32,
    /// Facts taken out of a space.
    #[serde(skip_serializing_if = "is_zero")]
    pub facts_removed: u32,
    /// Facts, entries, records and profiles written.
    #[serde(skip_serializing_if = "is_zero")]
    pub rows_written: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over what the field is")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What an op's own code answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// What it did, in numbers.
    pub numbers: EffectNumbers,
    /// What it settled about names.
    pub verdicts: Vec<Verdict>,
}

/// Everything that has to be written for one op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpResult {
    /// Its place in the run.
    pub seq: u32,
    /// The id of its effect.
    pub op: OpId,
    /// What became of it.
    pub state: OpState,
    /// Why, if it was not done.
    pub reason: Option<Reason>,
    /// What it did, in numbers.
    pub numbers: EffectNumbers,
    /// How to take it back; none if it changed nothing.
    pub undo: Option<UndoRecord>,
    /// What the graph must know.
    pub verbs: Vec<Verb>,
    /// What it settled about names.
    pub verdicts: Vec<Verdict>,
}

impl OpResult {
    /// The rows the op changed.
    pub fn touched(&self) -> impl Iterator<Item = RowKey> {
        self.undo.iter().flat_map(UndoRecord::keys)
    }
}

/// The ops of one group, in the order of their places.
pub struct Group<'a> {
    /// Ops that are still sealed.
    pub ops: &'a [Op],
    /// What became of the ops they depend on, as far as those are not in this group.
    pub parents: &'a BTreeMap<ContentKey, OpState>,
    /// What else they need to know.
    pub context: &'a Context,
}

/// Rounds in which a group may ask for rows: the ops' own rows and edges, then the edges those will be parallel to.
pub const NEEDS_ROUNDS_MAX: usize = 2;

impl Group<'_> {
    /// What has to be loaded and locked, given what is there already.
    pub fn needs(&self, rows: &Rows) -> Needs {
        let mut needs = Needs::default();
        for op in self.ops {
            match &op.draft.intent {
                Intent::MergeEntities { keep, absorb } => merge::needs(rows, *keep, absorb, &mut needs),
                Intent::Reabsorb { keep, absorbed } => reabsorb::needs(rows, *keep, *absorbed, &mut needs),
                Intent::Centroid { entity, members } => {
                    centroid::needs(*entity, members, op.draft.decision, &mut needs);
                }
                Intent::DropReferences { row, chunks } => gc::needs(*row, chunks, &mut needs),
                Intent::Repair { row, ends, .. } => needs.rows.extend(ends.is_none().then_some(*row)),
                intent => effect::needs(intent, &mut needs),
            }
            for premise in &op.draft.premises {
                premise_needs(premise, &mut needs);
            }
        }
        needs
    }

    /// The texts that ops of this group write.
    pub fn texts(&self) -> BTreeSet<Fingerprint> {
        self.ops.iter().filter_map(|op| op.draft.intent.text()).collect()
    }

    /// The names that ops of this group would make one: on each pair a person may have ruled since the plan was drawn up.
    pub fn name_pairs(&self, rows: &Rows) -> BTreeSet<NamePair> {
        let members = self.ops.iter().filter_map(|op| merged(&op.draft.intent));
        members.flat_map(|members| merge::name_pairs(rows, self.context, members)).collect()
    }

    /// Runs the ops in order; `apart` are the pairs of names that stay two.
    pub fn decide(&self, rows: &mut Rows, apart: &BTreeSet<NamePair>) -> Vec<OpResult> {
        let mut states = self.parents.clone();
        let mut results = Vec::with_capacity(self.ops.len());
        for op in self.ops {
            let result = self.decide_one(op, rows, apart, &states);
            states.insert(op.content, result.state);
            results.push(result);
        }
        results
    }

    fn decide_one(
        &self,
        op: &Op,
        rows: &mut Rows,
        apart: &BTreeSet<NamePair>,
        states: &BTreeMap<ContentKey, OpState>,
    ) -> OpResult {
        let settled = |state, reason| OpResult {
            seq: op.seq,
            op: op.id,
            state,
            reason: Some(reason),
            numbers: EffectNumbers::default(),
            undo: None,
            verbs: Vec::new(),
            verdicts: Vec::new(),
        };
        if op.draft.depends_on.iter().any(|parent| states.get(parent) != Some(&OpState::Applied)) {
            return settled(OpState::Skipped, Reason::ParentNotApplied);
        }
        if let Some(reason) = op.draft.premises.iter().find_map(|premise| self.broken(premise, rows)) {
            return settled(OpState::Stale, reason);
        }
        let pairs = merged(&op.draft.intent).map(|members| merge::name_pairs(rows, self.context, members));
        if pairs.is_some_and(|pairs| !apart.is_disjoint(&pairs)) {
            return settled(OpState::Skipped, Reason::VerdictKeepApart);
        }
        match in_graph(op, rows) {
            Ok(Some(result)) => return result,
            Ok(None) => {}
            Err(reason) => return settled(OpState::Stale, reason),
        }
        let mut editor = rows.edit();
        let applied = match self.run(op, &mut editor) {
            Ok(Ok(applied)) => applied,
            Ok(Err((state, reason))) => {
                editor.abandon();
                return settled(state, reason);
            }
            Err(NotLoaded(_)) => {
                editor.abandon();
                return settled(OpState::Stale, Reason::RowMissing);
            }
        };
        if !guard::admits(op.draft.kind, editor.changed_columns()) {
            editor.abandon();
            return settled(OpState::Failed, Reason::ForbiddenEffect);
        }
        result_of(op, &editor.finish(), applied)
    }

    fn run(&self, op: &Op, editor: &mut Editor<'_>) -> Result<Result<Applied, (OpState, Reason)>, NotLoaded> {
        match &op.draft.intent {
            Intent::MergeEntities { keep, absorb } => merge::apply(editor, self.context, op.id, *keep, absorb).map(Ok),
            Intent::Reabsorb { keep, absorbed } => {
                reabsorb::apply(editor, self.context, op.id, *keep, *absorbed).map(Ok)
            }
            Intent::Centroid { entity, members } => {
                let answer = self.context.answers.get(&op.content);
                if op.draft.decision == Decision::ReEmbed && answer.is_none() {
                    return Ok(Err((OpState::Skipped, Reason::NoEmbedding)));
                }
                centroid::apply(editor, self.context, *entity, members, answer)
            }
            Intent::DropReferences { row, chunks } => gc::apply(editor, *row, chunks).map(Ok),
            Intent::Repair { .. } => Ok(Ok(Applied::default())),
            intent => effect::apply(editor, self.context, intent),
        }
    }

    /// Why a premise no longer holds; none if it does.
    fn broken(&self, premise: &Premise, rows: &Rows) -> Option<Reason> {
        match premise {
            Premise::Entity { entity, name_and_type } => {
                let row = rows.entity(*entity);
                let Some(row) = row else { return Some(Reason::RowMissing) };
                if !merge::is_live(row, self.context.now) {
                    return Some(Reason::RowRetired);
                }
                (row_name_key(&self.context.text_key, row) != *name_and_type).then_some(Reason::NameOrTypeChanged)
            }
            Premise::EntityNamed { entity, name_and_type } => {
                let Some(row) = rows.entity(*entity) else { return Some(Reason::RowMissing) };
                (row_name_key(&self.context.text_key, row) != *name_and_type).then_some(Reason::NameOrTypeChanged)
            }
            Premise::Cosine { left, right, score_min } => {
                let (Some(left), Some(right)) = (rows.entity(*left), rows.entity(*right)) else {
                    return Some(Reason::RowMissing);
                };
                if left.get(Column::EmbeddingModel) != right.get(Column::EmbeddingModel) {
                    return Some(Reason::EmbeddingModelChanged);
                }
                let vectors = left.get(Column::Embedding).vector().zip(right.get(Column::Embedding).vector());
                let score = vectors.and_then(|(left, right)| between(left, right));
                score.is_none_or(|score| score < *score_min).then_some(Reason::VectorsDisagree)
            }
            Premise::RowLive { row } => {
                let Some(found) = rows.get(*row) else { return Some(Reason::RowMissing) };
                let ended = |column| found.get(column).time().is_some_and(|end| end <= self.context.now);
                let gone = ended(Column::ValidUntil) || ended(Column::ValidTo) || ended(Column::InvalidatedAt);
                gone.then_some(Reason::RowRetired)
            }
            Premise::EdgeInGraph { .. } => None,
            Premise::Alias { absorbed, keep: _ } => {
                let alias = rows.get(RowKey { table: Table::Aliases, id: *absorbed });
                alias.is_none().then_some(Reason::AliasGone)
            }
            Premise::Fact { fact, state } => effect::changed(rows, &self.context.text_key, *fact, *state),
            Premise::FactAsTold(told) => effect::changed_since_told(rows, &self.context.text_key, told),
            Premise::NeverRecalled { fact } => effect::recalled(rows, *fact),
        }
    }
}

fn premise_needs(premise: &Premise, needs: &mut Needs) {
    match premise {
        Premise::Entity { entity, .. } | Premise::EntityNamed { entity, .. } => {
            needs.rows.insert(RowKey::entity(*entity));
        }
        Premise::Cosine { left, right, .. } => {
            needs.rows.extend([RowKey::entity(*left), RowKey::entity(*right)]);
            needs.embeddings.extend([*left, *right]);
        }
        Premise::RowLive { row } => {
            needs.rows.insert(*row);
        }
        Premise::EdgeInGraph { .. } => {}
        Premise::Alias { absorbed, .. } => {
            needs.rows.insert(RowKey { table: Table::Aliases, id: *absorbed });
        }
        Premise::Fact { fact, .. }
        | Premise::NeverRecalled { fact }
        | Premise::FactAsTold(ticket::Premise { fact, .. }) => {
            needs.rows.insert(RowKey { table: Table::Facts, id: *fact });
        }
    }
}

/// What becomes of an op that changes no row of the tables, and of which the graph alone is told: a repair, or a removal of
/// references from an edge that only the graph has. None if there are rows to change; an error says why it is stale.
fn in_graph(op: &Op, rows: &Rows) -> Result<Option<OpResult>, Reason> {
    match &op.draft.intent {
        Intent::Repair { row, ends, columns } if ends.is_some() || rows.get(*row).is_some() => {
            let repair = Verb::Repair { row: *row, ends: *ends, columns: columns.clone() };
            Ok(Some(told(op, vec![repair], EffectNumbers::default())))
        }
        Intent::Repair { .. } => Err(Reason::RowMissing),
        Intent::DropReferences { row, chunks } if rows.get(*row).is_none() => {
            Ok(edge_in_graph(op).map(|ends| dropped_in_graph(op, (*row, chunks), ends, rows)))
        }
        _ => Ok(None),
    }
}

/// Where an edge runs that the graph alone has, if the op is about one.
fn edge_in_graph(op: &Op) -> Option<&Vec<(uuid::Uuid, uuid::Uuid)>> {
    op.draft.premises.iter().find_map(|premise| match premise {
        Premise::EdgeInGraph { ends } => Some(ends),
        _ => None,
    })
}

/// The tables say which of its references are dead still, and the graph is told.
fn dropped_in_graph(
    op: &Op,
    (row, chunks): (RowKey, &[uuid::Uuid]),
    ends: &[(uuid::Uuid, uuid::Uuid)],
    rows: &Rows,
) -> OpResult {
    let dead: Vec<uuid::Uuid> = chunks.iter().filter(|chunk| !rows.chunk_is_live(**chunk)).copied().collect();
    let references_removed = u32::try_from(dead.len()).unwrap_or(u32::MAX);
    let numbers = EffectNumbers { references_removed, ..EffectNumbers::default() };
    let is_done = !dead.is_empty();
    let verb = is_done.then(|| Verb::DropReferences { row, chunks: dead, ends: ends.to_vec() });
    told(op, verb.into_iter().collect(), numbers)
}

/// The result of an op of which the graph is told and that changes no row.
fn told(op: &Op, verbs: Vec<Verb>, numbers: EffectNumbers) -> OpResult {
    let is_done = !verbs.is_empty();
    OpResult {
        seq: op.seq,
        op: op.id,
        state: if is_done { OpState::Applied } else { OpState::Noop },
        reason: None,
        numbers,
        undo: is_done.then(|| UndoRecord { changes: Vec::new() }),
        verbs,
        verdicts: Vec::new(),
    }
}

fn result_of(op: &Op, changes: &[RowChange], applied: Applied) -> OpResult {
    let state = if changes.is_empty() { OpState::Noop } else { OpState::Applied };
    OpResult {
        seq: op.seq,
        op: op.id,
        state,
        reason: None,
        verbs: verbs(&op.draft.intent, &applied.numbers, changes),
        numbers: applied.numbers,
        undo: (!changes.is_empty()).then(|| UndoRecord::of(changes)),
        verdicts: applied.verdicts,
    }
}

/// One op to be taken back.
pub struct Reversal<'a> {
    /// The op.
    pub op: &'a Op,
    /// What it changed.
    pub record: &'a UndoRecord,
}

impl Reversal<'_> {
    /// What has to be loaded and locked.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for change in &self.record.changes {
            needs.rows.insert(change.key);
            if change.columns.contains_key(&Column::Embedding) {
                needs.embeddings.insert(change.key.id);
            }
        }
        needs.rows.extend(merged(&self.op.draft.intent).into_iter().flatten().map(RowKey::entity));
        needs
    }

    /// Takes the op back; answers what to write and which cells were changed since. A merge that is taken back is a word
    /// about its names: they stay two.
    pub fn decide(
        &self,
        rows: &mut Rows,
        context: &Context,
        on_changed: crate::undo::OnChanged,
    ) -> Result<(OpResult, Vec<crate::undo::ChangedSince>), NotLoaded> {
        let mut editor = rows.edit();
        let changed = self.record.restore(&mut editor, on_changed)?;
        let mut verdicts = Vec::new();
        if let Some(members) = merged(&self.op.draft.intent) {
            let pairs = merge::name_pairs(editor.rows(), context, members);
            verdicts.extend(pairs.into_iter().map(|(low, high)| Verdict { low, high, ruling: Ruling::KeepApart }));
        }
        let changes = editor.finish();
        let result = OpResult {
            seq: self.op.seq,
            op: self.op.id,
            state: OpState::Undone,
            reason: None,
            numbers: EffectNumbers::default(),
            undo: None,
            verbs: verbs_of_undo(
                &self.op.draft.intent,
                !changes.is_empty() || self.record.changes.is_empty(),
                on_changed == crate::undo::OnChanged::Overwrite,
            ),
            verdicts,
        };
        Ok((result, changed))
    }
}

/// The entities that a merge or a re-absorption makes one, the survivor first.
pub fn merged(intent: &Intent) -> Option<Vec<uuid::Uuid>> {
    match intent {
        Intent::MergeEntities { keep, absorb } => Some([&[*keep], absorb.as_slice()].concat()),
        Intent::Reabsorb { keep, absorbed } => Some(vec![*keep, *absorbed]),
        _ => None,
    }
}

/// The value that a null column stands for, where Khora's migrations leave no default.
pub fn or_default(value: &Value, default: Value) -> Value {
    if value.is_null() { default } else { value.clone() }
}
