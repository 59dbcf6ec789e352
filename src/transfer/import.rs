//! Import: two passes over the file, entities and chunks first, so that an edge may stand before its ends.
//!
//! A bad line is reported by its number and left out; its neighbours are imported.

use std::path::Path;

use dream_core::change::{Column, Row, RowKey, Value};
use dream_core::clock::Moment;
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use dream_ports::transfer::{Imported, NewChunk, OnNameClash};
use dream_ports::{Graph, GraphError, Store};
use indicatif::ProgressBar;

use crate::exit::Fault;

use super::format::{ChunkLine, EntityLine, RelationshipLine};
use super::lines::{Lines, Spool, Vectors, kind, parse, usable};
use super::problems::Problems;

/// Rows of one transaction: large enough to be fast, small enough to let others write in between.
const ROWS_PER_BATCH: usize = 500;

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) entities: u64,
    pub(crate) relationships: u64,
    pub(crate) chunks: u64,
    /// Rows that were there already, under their own id.
    pub(crate) existing: u64,
    /// Lines that could not be used.
    pub(crate) problems: Problems,
}

/// Imports a file into a namespace.
pub(crate) struct Importer<'a> {
    pub(crate) store: &'a dyn Store,
    /// The graph database beside it: it gets every entity as a node.
    pub(crate) graph: Option<&'a dyn Graph>,
    /// Whether edges are written there and not to the tables, as Khora does.
    pub(crate) edges_in_graph: bool,
    pub(crate) namespace: NamespaceId,
    pub(crate) on_name_clash: OnNameClash,
    pub(crate) now: Moment,
    pub(crate) bar: &'a ProgressBar,
}

/// Rows that wait for their transaction, with the lines they stand on.
struct Batch<T> {
    rows: Vec<T>,
    lines: Vec<u64>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), lines: Vec::new() }
    }
}

impl<T> Batch<T> {
    fn push(&mut self, line: u64, row: T) -> bool {
        self.rows.push(row);
        self.lines.push(line);
        self.rows.len() >= ROWS_PER_BATCH
    }
}

impl Importer<'_> {
    /// Imports everything. Vectors have to be checked before, with [`Spool::check`].
    pub(crate) async fn run(&self, path: &Path, vectors: Option<&Vectors>) -> Result<Outcome, Fault> {
        let mut outcome = Outcome::default();
        self.nodes(path, vectors, &mut outcome).await?;
        self.edges(path, &mut outcome).await?;
        Ok(outcome)
    }

    async fn nodes(&self, path: &Path, vectors: Option<&Vectors>, outcome: &mut Outcome) -> Result<(), Fault> {
        let mut spool = vectors.map(Spool::open).transpose()?;
        let mut entities: Batch<Row> = Batch::default();
        let mut chunks: Batch<NewChunk> = Batch::default();
        let mut lines = Lines::open(path)?;
        while let Some((number, text)) = lines.next()? {
            self.bar.set_position(lines.bytes);
            match kind(&text) {
                Ok("relationship") => {}
                Ok("chunk") => match parse::<ChunkLine>(&text).and_then(|line| usable(line.chunk(self.now))) {
                    Ok(chunk) => {
                        if chunks.push(number, chunk) {
                            self.write_chunks(&mut chunks, outcome).await?;
                        }
                    }
                    Err(reason) => outcome.problems.add(number, reason),
                },
                Ok("entity") => {
                    // The vector is read also for a line that cannot be used: vectors stand in the order of the lines.
                    let vector = spool.as_mut().map(Spool::next).transpose()?;
                    let row = parse::<EntityLine>(&text).and_then(|line| usable(line.row(self.now)));
                    match row.and_then(|row| Ok((row, vector.transpose()?))) {
                        Ok((mut row, vector)) => {
                            if let (Some(vector), Some(vectors)) = (vector, vectors) {
                                row.put(Column::Embedding, Value::Vector(vector));
                                row.put(Column::EmbeddingModel, Value::Text(vectors.model.clone()));
                            }
                            if entities.push(number, row) {
                                self.write_entities(&mut entities, outcome).await?;
                            }
                        }
                        Err(reason) => outcome.problems.add(number, reason),
                    }
                }
                Ok(_) => outcome.problems.add(number, "kind: expected entity, relationship or chunk".to_owned()),
                Err(reason) => outcome.problems.add(number, reason),
            }
        }
        self.write_entities(&mut entities, outcome).await?;
        self.write_chunks(&mut chunks, outcome).await
    }

    async fn edges(&self, path: &Path, outcome: &mut Outcome) -> Result<(), Fault> {
        let mut edges: Batch<Row> = Batch::default();
        let mut lines = Lines::open(path)?;
        while let Some((number, text)) = lines.next()? {
            if kind(&text) != Ok("relationship") {
                continue;
            }
            match parse::<RelationshipLine>(&text).and_then(|line| usable(line.row(self.now))) {
                Ok(row) => {
                    if edges.push(number, row) {
                        self.write_edges(&mut edges, outcome).await?;
                    }
                }
                Err(reason) => outcome.problems.add(number, reason),
            }
        }
        self.write_edges(&mut edges, outcome).await
    }

    async fn write_entities(&self, batch: &mut Batch<Row>, outcome: &mut Outcome) -> Result<(), Fault> {
        let batch = std::mem::take(batch);
        let done = self.store.import_entities(self.namespace, &batch.rows, self.on_name_clash).await?;
        outcome.entities += tally(&batch.lines, &done, outcome);
        if let Some(graph) = self.graph {
            // As the store has them: a name may have been given a number, and a row may have been there before.
            let is_there = |done: &Imported| {
                !matches!(done, Imported::NameClash { .. } | Imported::Elsewhere | Imported::NoEnd { .. })
            };
            let keys: Vec<RowKey> =
                batch.rows.iter().zip(&done).filter(|(_, done)| is_there(done)).map(|(row, _)| row.key()).collect();
            let rows = self.store.content_rows(self.namespace, &keys).await?;
            graph.import_nodes(self.namespace, &rows).await.map_err(of_graph)?;
        }
        Ok(())
    }

    async fn write_edges(&self, batch: &mut Batch<Row>, outcome: &mut Outcome) -> Result<(), Fault> {
        let batch = std::mem::take(batch);
        if let Some(graph) = self.graph.filter(|_| self.edges_in_graph) {
            // In a graph an edge that ended has an end, and no other sign.
            let mut batch = batch;
            for row in &mut batch.rows {
                let end = [Column::ValidUntil, Column::ValidTo, Column::InvalidatedAt]
                    .into_iter()
                    .find_map(|column| row.get(column).time());
                row.put(Column::ValidUntil, end.map_or(Value::Null, Value::Time));
            }
            let missing = graph.import_edges(self.namespace, &batch.rows).await.map_err(of_graph)?;
            for (row, line) in batch.rows.iter().zip(&batch.lines) {
                if missing.contains(&row.id) {
                    outcome.problems.add(*line, "one of its ends is no node of the graph".to_owned());
                } else {
                    outcome.relationships += 1;
                }
            }
            return Ok(());
        }
        let done = self.store.import_relationships(self.namespace, &batch.rows).await?;
        outcome.relationships += tally(&batch.lines, &done, outcome);
        Ok(())
    }

    async fn write_chunks(&self, batch: &mut Batch<NewChunk>, outcome: &mut Outcome) -> Result<(), Fault> {
        let batch = std::mem::take(batch);
        let done = self.store.import_chunks(self.namespace, &batch.rows).await?;
        outcome.chunks += tally(&batch.lines, &done, outcome);
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn of_graph(error: GraphError) -> Fault {
    let code = if error.is_transient() { Code::GraphUnavailable } else { Code::StoreRefused };
    Fault::new(code, error.to_string())
}

/// Counts what was written, and reports what was not.
fn tally(lines: &[u64], done: &[Imported], outcome: &mut Outcome) -> u64 {
    let mut written = 0;
    for (line, imported) in lines.iter().zip(done) {
        match imported {
            Imported::Written | Imported::Suffixed => written += 1,
            Imported::Exists => outcome.existing += 1,
            Imported::Elsewhere => {
                outcome.problems.add(*line, "the id is one of another namespace of this store".to_owned());
            }
            Imported::NameClash { owner } => {
                outcome.problems.add(*line, format!("name and type exist already, under id {owner}"));
            }
            Imported::NoEnd { end } => outcome.problems.add(*line, format!("there is no entity {end}")),
            Imported::WrongDimension => {
                written += 1;
                outcome
                    .problems
                    .add(*line, "embedding: another length than the store's vectors; imported without it".to_owned());
            }
        }
    }
    written
}
