//! What forgetting a fact reaches beyond its row: what was merged into it, the wording that was made of it, and what dreams
//! wrote that says a word which only it had.
//!
//! The rule for what a dream wrote (profile, weekly digest, conflict, proposal) goes by words: it goes if it says a word of
//! the fact that no other fact and no day of the journal says. Who reads it would otherwise learn what was to be forgotten;
//! what every fact of the space says as well tells nothing. A paraphrase that shares no such word is not recognised.
//!
//! **Invariant:** what a person wrote is not touched: a wording that was edited since stays, and so does the journal.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::effect::fact_key;
use super::sameness;
use crate::change::{Cell, Column, Row, RowKey, Table};
use crate::op::{Intent, OpState};
use crate::undo::{UndoCell, UndoRecord, fingerprint};

/// Letters that a word has at least, so that `an` and `to` tell nothing; one with a digit tells something at any length.
const LETTERS_MIN: usize = 3;

/// An op that touched a fact, with what undo needs of it, as long as that is kept.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What it was to do.
    pub intent: Intent,
    /// What became of it.
    pub state: OpState,
    /// Its undo record.
    pub undo: Option<UndoRecord>,
}

impl Trace {
    fn merge(&self) -> Option<(Uuid, &[Uuid], bool)> {
        match &self.intent {
            Intent::MergeFacts { keep, absorb, wording, .. } if self.state == OpState::Applied => {
                Some((*keep, absorb, wording.is_some()))
            }
            _ => None,
        }
    }

    fn words_of(&self, fact: Uuid) -> Option<&UndoCell> {
        let change = self.undo.as_ref()?.changes.iter().find(|change| change.key == fact_key(fact))?;
        change.columns.get(&Column::Text)
    }
}

/// The facts that were merged into a fact: they said the same, and go with it.
pub fn merged_into(fact: Uuid, traces: &[Trace]) -> Vec<Uuid> {
    let merges = traces.iter().filter_map(Trace::merge).filter(|(keep, ..)| *keep == fact);
    merges.flat_map(|(_, absorb, _)| absorb.to_vec()).collect()
}

/// The facts that got a wording which was made of a fact.
pub fn worded_from(fact: Uuid, traces: &[Trace]) -> BTreeSet<Uuid> {
    let merges = traces.iter().filter_map(Trace::merge);
    merges.filter(|(_, absorb, is_worded)| *is_worded && absorb.contains(&fact)).map(|(keep, ..)| keep).collect()
}

/// What becomes of the words of a fact that absorbed a forgotten one.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnWords {
    /// They are its own, or a person's.
    AsTheyAre,
    /// It had these before.
    Restored(Cell),
    /// What it said before is no longer known.
    Lost,
}

/// What becomes of the words of `kept`, which got a wording made of one of the `gone`; its traces stand oldest first. Answers
/// too which of their undo records would bring back a wording that was made of it.
pub fn own_words(kept: Uuid, row: Option<&Row>, gone: &BTreeSet<Uuid>, traces: &[Trace]) -> (OwnWords, Vec<usize>) {
    let made = |trace: &Trace| {
        trace.merge().is_some_and(|(keep, absorb, is_worded)| {
            keep == kept && is_worded && absorb.iter().any(|id| gone.contains(id))
        })
    };
    let Some(first) = traces.iter().position(made) else { return (OwnWords::AsTheyAre, Vec::new()) };
    let Some(own) = traces[first].words_of(kept) else {
        // The undo record is purged, and whether a person has edited the fact since is not known.
        return (OwnWords::Lost, Vec::new());
    };
    let later = (first + 1..traces.len()).filter(|at| traces[*at].words_of(kept).is_some()).collect();
    let current = row.map(|row| fingerprint(row.get(Column::Text)));
    let left = traces[first..].iter().filter_map(|trace| trace.words_of(kept)).map(|cell| cell.after);
    let is_a_dreams = current.is_none_or(|current| left.into_iter().any(|after| after == current));
    (if is_a_dreams { OwnWords::Restored(own.before.clone()) } else { OwnWords::AsTheyAre }, later)
}

/// Words of a forgotten fact that nothing else in its space says.
#[derive(Clone, Default)]
pub struct Words(BTreeSet<String>);

fn words(text: &str) -> impl Iterator<Item = String> {
    let key = sameness::key(text);
    let tells = |word: &&str| word.chars().count() >= LETTERS_MIN || word.chars().any(char::is_numeric);
    let words: Vec<String> = key.split(|c: char| !c.is_alphanumeric()).filter(tells).map(str::to_owned).collect();
    words.into_iter()
}

impl Words {
    /// Takes in what the fact said.
    pub fn add(&mut self, text: &str) {
        self.0.extend(words(text));
    }

    /// Takes out what something else says too.
    pub fn known(&mut self, text: &str) {
        for word in words(text) {
            self.0.remove(&word);
        }
    }

    /// Takes in what a row said: a fact's subject and text.
    pub fn add_row(&mut self, row: &Row) {
        for column in [Column::Subject, Column::Text] {
            self.add(row.get(column).text().unwrap_or_default());
        }
    }

    /// Takes out what a row says too: a fact that stays, a day of the journal.
    pub fn known_row(&mut self, row: &Row) {
        for column in [Column::Subject, Column::Text] {
            self.known(row.get(column).text().unwrap_or_default());
        }
    }

    /// Takes in what undo records hold of a row.
    pub fn add_undone(&mut self, key: RowKey, traces: &[Trace]) {
        let undone = traces.iter().filter_map(|trace| trace.undo.as_ref()).flat_map(|undo| &undo.changes);
        for change in undone.filter(|change| change.key == key) {
            for column in [Column::Subject, Column::Text] {
                self.add(change.columns.get(&column).and_then(|cell| cell.before.value.text()).unwrap_or_default());
            }
        }
    }

    /// Whether a text says one of them.
    pub fn are_in(&self, text: &str) -> bool {
        !self.0.is_empty() && words(text).any(|word| self.0.contains(&word))
    }

    /// Whether a row that a dream wrote says one of them.
    pub fn are_in_row(&self, row: &Row) -> bool {
        [Column::Text, Column::DreamSummary, Column::Body]
            .into_iter()
            .any(|column| row.get(column).text().is_some_and(|text| self.are_in(text)))
    }

    /// The rows of dreams that undo would bring back with one of them.
    pub fn brought_back_by(&self, undo: &UndoRecord) -> Vec<RowKey> {
        let of_dreams = |table| matches!(table, Table::Journal | Table::Records | Table::Profiles);
        let changes = undo.changes.iter().filter(|change| of_dreams(change.key.table));
        let says = |cell: &Cell| cell.value.text().is_some_and(|text| self.are_in(text));
        changes.filter(|it| it.columns.values().any(|cell| says(&cell.before))).map(|it| it.key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::super::row::of_fact;
    use super::*;
    use crate::change::Value;
    use crate::digest::Fingerprint;
    use crate::rows::Rows;
    use crate::undo::OnChanged;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    /// A merge of 2 into 1 with new words, as it was carried out.
    fn merged(rows: &mut Rows, wording: &str) -> Trace {
        let mut editor = rows.edit();
        editor.set(fact_key(id(1)), Column::Text, Value::Text(wording.to_owned())).unwrap();
        editor.remove(fact_key(id(2))).unwrap();
        let undo = Some(UndoRecord::of(&editor.finish()));
        let wording = Some(Fingerprint([1; 16]));
        let intent = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: false, wording };
        Trace { intent, state: OpState::Applied, undo }
    }

    #[test]
    fn a_wording_made_of_a_forgotten_fact_gives_way_to_the_words_before_unless_a_person_wrote_since() {
        let mut rows = Rows::default();
        rows.load(of_fact(&fact(1, "likes tea")));
        rows.load(of_fact(&fact(2, "likes quokkas")));
        let traces = [merged(&mut rows, "likes tea and quokkas")];
        let gone = BTreeSet::from([id(2)]);
        assert_eq!(worded_from(id(2), &traces), BTreeSet::from([id(1)]));
        let own = |rows: &Rows, traces: &[Trace]| own_words(id(1), rows.get(fact_key(id(1))), &gone, traces).0;
        assert_eq!(own(&rows, &traces), OwnWords::Restored(Value::Text("likes tea".into()).into()));
        let purged = [Trace { undo: None, ..traces[0].clone() }];
        assert_eq!(own(&rows, &purged), OwnWords::Lost);
        rows.edit().set(fact_key(id(1)), Column::Text, Value::Text("likes mate".into())).unwrap();
        assert_eq!(own(&rows, &traces), OwnWords::AsTheyAre);
        assert_eq!(merged_into(id(1), &traces), [id(2)]);
        let undone = [Trace { state: OpState::Undone, ..traces[0].clone() }];
        assert_eq!((merged_into(id(1), &undone), worded_from(id(2), &undone).len()), (vec![], 0));
        // What is put into the record comes back instead.
        let record = traces[0].undo.clone().unwrap().saying(fact_key(id(1)), &Value::Text("likes".into()).into());
        let mut editor = rows.edit();
        record.restore(&mut editor, OnChanged::Overwrite).unwrap();
        assert_eq!(rows.get(fact_key(id(1))).unwrap().get(Column::Text).text(), Some("likes"));
    }

    #[test]
    fn a_text_tells_a_fact_by_a_word_that_nothing_else_says() {
        let mut words = Words::default();
        words.add_row(&of_fact(&fact(2, "Keeps a Quokka, No. 7, at home")));
        words.known_row(&of_fact(&fact(3, "works at home")));
        for told in ["a quokka.", "QUOKKA", "the 7 dwarfs", "keeps bees"] {
            assert!(words.are_in(told), "{told}");
        }
        for silent in ["is at home", "a", "quokkas", "no 77", ""] {
            assert!(!words.are_in(silent), "{silent}");
        }
    }
}
