//! `dream eval`: how good dedupe is on records whose true identity is known, straight from a file.
//!
//! A reader ([`jsonl`], [`table`]) makes a [`Set`] of rows, as an import would. The set is fed as the rows of a store are,
//! planned under the configured thresholds, and its final clusters are held against the labels ([`scorecard`]). A new form
//! of file is a reader of its own that makes a set.
//!
//! **Invariant:** the labels never reach the planner.

pub(crate) mod jsonl;
pub(crate) mod scorecard;
pub(crate) mod table;

use std::collections::BTreeMap;

use dream_activities::feed::feed_entity;
use dream_core::change::{Column, Row};
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::realm::graph::dedupe::eval::LabelledRecord;
use dream_core::realm::graph::dedupe::{DedupePlan, DedupePlanner, DedupeSettings};
use dream_ports::content::EntityView;
use uuid::Uuid;

use crate::transfer::problems::Problems;

/// Records with what is known of them.
#[derive(Default)]
pub(crate) struct Set {
    rows: Vec<Row>,
    by_id: BTreeMap<Uuid, usize>,
    /// What each record truly is; none where nobody says.
    labels: Vec<Option<String>>,
    edges: Vec<(Uuid, Uuid, String)>,
    /// Lines that could not be used.
    pub(crate) problems: Problems,
}

/// Why a record is not taken.
const ID_TWICE: &str = "id: stands on an earlier line";

impl Set {
    /// Takes a record; the first of two with one id stays.
    fn push(&mut self, line: u64, row: Row, label: Option<String>) {
        if self.by_id.contains_key(&row.id) {
            self.problems.add(line, ID_TWICE.to_owned());
            return;
        }
        self.by_id.insert(row.id, self.rows.len());
        self.rows.push(row);
        self.labels.push(label);
    }

    /// Draws up the plan that a run over a store with these rows would draw up.
    pub(crate) fn plan(&self, settings: &DedupeSettings) -> Result<DedupePlan, Failure> {
        let mut planner = DedupePlanner::new(settings.clone());
        for row in &self.rows {
            let length = row.get(Column::Embedding).vector().map_or(0, <[f32]>::len);
            feed_entity(&mut planner, &view(row), None, u32::try_from(length).unwrap_or(u32::MAX), true);
        }
        for (source, target, relationship_type) in &self.edges {
            planner.feed_edge(*source, *target, relationship_type);
        }
        let mut scorer = planner.propose().map_err(|error| Failure::new(Code::InvalidInput, error.to_string()))?;
        for id in scorer.need_vectors().to_vec() {
            let row = self.by_id.get(&id).map(|place| &self.rows[*place]);
            if let Some(vector) = row.and_then(|row| row.get(Column::Embedding).vector()) {
                scorer.feed_vector(id, vector);
            }
        }
        Ok(scorer.finish())
    }

    /// The records that have a label.
    pub(crate) fn labelled(&self) -> Vec<LabelledRecord<'_>> {
        let labelled = self.rows.iter().zip(&self.labels);
        labelled
            .filter_map(|(row, label)| {
                let name = row.get(Column::Name).text().unwrap_or_default();
                Some(LabelledRecord { id: row.id, name, label: label.as_deref()? })
            })
            .collect()
    }
}

/// A row as a store streams it.
fn view(row: &Row) -> EntityView<'_> {
    let text = |column| row.get(column).text().unwrap_or_default();
    let moment = |column| row.get(column).time().unwrap_or(Moment::from_micros(0));
    EntityView {
        id: row.id,
        name: text(Column::Name),
        entity_type: text(Column::EntityType),
        mention_count: row.get(Column::MentionCount).int().unwrap_or(1),
        attributes: text(Column::Attributes),
        source_document_ids: row.get(Column::SourceDocumentIds).ids(),
        source_chunk_ids: row.get(Column::SourceChunkIds).ids(),
        embedding_model: row.get(Column::Embedding).vector().map(|_| text(Column::EmbeddingModel)),
        created_at: moment(Column::CreatedAt),
        updated_at: moment(Column::UpdatedAt),
    }
}
