//! Import: two passes over the file, entities and chunks first, so that an edge may stand before its ends.
//!
//! A bad line is reported by its number and left out; its neighbours are imported.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dream_core::change::{Column, Row, Value};
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_ports::Store;
use dream_ports::transfer::{Imported, NewChunk, OnNameClash};
use half::f16;
use indicatif::ProgressBar;
use serde::de::DeserializeOwned;

use super::format::{ChunkLine, EntityLine, Kind, RelationshipLine};

/// Rows of one transaction: large enough to be fast, small enough to let others write in between.
const ROWS_PER_BATCH: usize = 500;

/// Bytes of one line. A line beyond this is no memory but a mistake, and is not read into memory.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bad lines that are listed; more are counted.
const PROBLEMS_LISTED_MAX: usize = 100;

/// Vectors in a file of their own, in the order of the entity lines.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// Little-endian half-precision numbers.
    pub(crate) path: PathBuf,
    /// Numbers per vector.
    pub(crate) dimension: usize,
    /// The model that made them.
    pub(crate) model: String,
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) entities: u64,
    pub(crate) relationships: u64,
    pub(crate) chunks: u64,
    /// Rows that were there already, under their own id.
    pub(crate) existing: u64,
    /// Lines that could not be used, with the reason.
    pub(crate) problems: Vec<(u64, String)>,
    pub(crate) problems_unlisted: u64,
}

impl Outcome {
    fn problem(&mut self, line: u64, reason: String) {
        if self.problems.len() < PROBLEMS_LISTED_MAX {
            self.problems.push((line, reason));
        } else {
            self.problems_unlisted += 1;
        }
    }

    /// Whether some line could not be used.
    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// Imports a file into a namespace.
pub(crate) struct Importer<'a> {
    pub(crate) store: &'a dyn Store,
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
    /// Imports everything.
    pub(crate) async fn run(&self, path: &Path, vectors: Option<&Vectors>) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        self.nodes(path, vectors, &mut outcome).await?;
        self.edges(path, &mut outcome).await?;
        outcome.problems.sort_unstable();
        Ok(outcome)
    }

    async fn nodes(&self, path: &Path, vectors: Option<&Vectors>, outcome: &mut Outcome) -> anyhow::Result<()> {
        let mut spool = vectors.map(Spool::open).transpose()?;
        let mut entities: Batch<Row> = Batch::default();
        let mut chunks: Batch<NewChunk> = Batch::default();
        let mut lines = Lines::open(path)?;
        while let Some((number, text)) = lines.next()? {
            self.bar.set_position(lines.bytes);
            match kind(text.as_deref()) {
                Ok("relationship") => {}
                Ok("chunk") => match parse::<ChunkLine>(text.as_deref()).and_then(|line| usable(line.chunk(self.now))) {
                    Ok(chunk) => {
                        if chunks.push(number, chunk) {
                            self.write_chunks(&mut chunks, outcome).await?;
                        }
                    }
                    Err(reason) => outcome.problem(number, reason),
                },
                Ok("entity") => {
                    // The vector is read also for a line that cannot be used: vectors stand in the order of the lines.
                    let vector = spool.as_mut().map(Spool::next).transpose()?;
                    match parse::<EntityLine>(text.as_deref()).and_then(|line| usable(line.row(self.now))) {
                        Ok(mut row) => {
                            if let (Some(vector), Some(vectors)) = (vector, vectors) {
                                row.put(Column::Embedding, Value::Vector(vector));
                                row.put(Column::EmbeddingModel, Value::Text(vectors.model.clone()));
                            }
                            if entities.push(number, row) {
                                self.write_entities(&mut entities, outcome).await?;
                            }
                        }
                        Err(reason) => outcome.problem(number, reason),
                    }
                }
                Ok(_) => outcome.problem(number, "kind: expected entity, relationship or chunk".to_owned()),
                Err(reason) => outcome.problem(number, reason),
            }
        }
        self.write_entities(&mut entities, outcome).await?;
        self.write_chunks(&mut chunks, outcome).await?;
        spool.map_or(Ok(()), Spool::close)
    }

    async fn edges(&self, path: &Path, outcome: &mut Outcome) -> anyhow::Result<()> {
        let mut edges: Batch<Row> = Batch::default();
        let mut lines = Lines::open(path)?;
        while let Some((number, text)) = lines.next()? {
            if kind(text.as_deref()) != Ok("relationship") {
                continue;
            }
            match parse::<RelationshipLine>(text.as_deref()).and_then(|line| usable(line.row(self.now))) {
                Ok(row) => {
                    if edges.push(number, row) {
                        self.write_edges(&mut edges, outcome).await?;
                    }
                }
                Err(reason) => outcome.problem(number, reason),
            }
        }
        self.write_edges(&mut edges, outcome).await
    }

    async fn write_entities(&self, batch: &mut Batch<Row>, outcome: &mut Outcome) -> anyhow::Result<()> {
        let batch = std::mem::take(batch);
        let done = self.store.import_entities(self.namespace, &batch.rows, self.on_name_clash).await?;
        outcome.entities += tally(&batch.lines, &done, outcome);
        Ok(())
    }

    async fn write_edges(&self, batch: &mut Batch<Row>, outcome: &mut Outcome) -> anyhow::Result<()> {
        let batch = std::mem::take(batch);
        let done = self.store.import_relationships(self.namespace, &batch.rows).await?;
        outcome.relationships += tally(&batch.lines, &done, outcome);
        Ok(())
    }

    async fn write_chunks(&self, batch: &mut Batch<NewChunk>, outcome: &mut Outcome) -> anyhow::Result<()> {
        let batch = std::mem::take(batch);
        let done = self.store.import_chunks(self.namespace, &batch.rows).await?;
        outcome.chunks += tally(&batch.lines, &done, outcome);
        Ok(())
    }
}

/// Counts what was written, and reports what was not.
fn tally(lines: &[u64], done: &[Imported], outcome: &mut Outcome) -> u64 {
    let mut written = 0;
    for (line, imported) in lines.iter().zip(done) {
        match imported {
            Imported::Written | Imported::Suffixed => written += 1,
            Imported::Exists => outcome.existing += 1,
            Imported::NameClash { owner } => {
                outcome.problem(*line, format!("name and type exist already, under id {owner}"));
            }
            Imported::NoEnd { end } => outcome.problem(*line, format!("there is no entity {end}")),
            Imported::WrongDimension => {
                written += 1;
                outcome.problem(*line, "embedding: another length than the store's vectors; imported without it".to_owned());
            }
        }
    }
    written
}

fn usable<T>(row: Result<T, super::format::Unusable>) -> Result<T, String> {
    row.map_err(|unusable| unusable.to_string())
}

/// What a line is; none for a line that is too long to be read.
fn kind(text: Option<&str>) -> Result<&'static str, String> {
    let text = text.ok_or_else(|| format!("longer than {LINE_BYTES_MAX} bytes"))?;
    let kind: Kind = serde_json::from_str(text).map_err(|_| "no JSON object with a kind".to_owned())?;
    Ok(match kind.kind.as_str() {
        "entity" => "entity",
        "relationship" => "relationship",
        "chunk" => "chunk",
        _ => "unknown",
    })
}

/// Reads a line. What is wrong is said by the path of its field, never by what stands there.
fn parse<T: DeserializeOwned>(text: Option<&str>) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text.unwrap_or_default());
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let inner = error.inner().to_string();
        let quoted = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
        if inner.starts_with("missing field") {
            format!("{}: is missing", quoted(&inner))
        } else if inner.starts_with("unknown field") {
            "a field is not known; docs/formats/import.md lists them".to_owned()
        } else {
            format!("{}: a value of another kind is expected", error.path())
        }
    })
}

/// The lines of a file, one at a time.
struct Lines {
    reader: BufReader<File>,
    number: u64,
    bytes: u64,
}

impl Lines {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), number: 0, bytes: 0 })
    }

    /// The next line that is not empty, with its number; no text if it is too long or not UTF-8.
    fn next(&mut self) -> anyhow::Result<Option<(u64, Option<String>)>> {
        loop {
            let mut line = Vec::new();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += read as u64;
            if line.len() > LINE_BYTES_MAX {
                self.skip_rest()?;
                return Ok(Some((self.number, None)));
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some((self.number, String::from_utf8(line).ok())));
        }
    }

    fn skip_rest(&mut self) -> anyhow::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.bytes += used as u64;
            self.reader.consume(used);
            if end.is_some() || used == 0 {
                return Ok(());
            }
        }
    }
}

/// Vectors of a file, one at a time.
struct Spool {
    reader: BufReader<File>,
    bytes: Vec<u8>,
    read: u64,
}

impl Spool {
    fn open(vectors: &Vectors) -> anyhow::Result<Self> {
        let file = File::open(&vectors.path).with_context(|| format!("{} cannot be read", vectors.path.display()))?;
        let length = file.metadata()?.len();
        let row = vectors.dimension as u64 * 2;
        if row == 0 || !length.is_multiple_of(row) {
            let message = format!("{} holds no whole vectors of dimension {}", vectors.path.display(), vectors.dimension);
            return Err(Failure::new(Code::InvalidInput, message).into());
        }
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), bytes: vec![0; vectors.dimension * 2], read: 0 })
    }

    fn next(&mut self) -> anyhow::Result<Vec<f32>> {
        self.reader.read_exact(&mut self.bytes).map_err(|_| {
            let message = format!("there are only {} vectors, and more entities", self.read);
            Failure::new(Code::InvalidInput, message)
        })?;
        self.read += 1;
        let (numbers, _) = self.bytes.as_chunks::<2>();
        Ok(numbers.iter().map(|number| f16::from_le_bytes(*number).to_f32()).collect())
    }

    fn close(mut self) -> anyhow::Result<()> {
        if self.reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let message = format!("there are more vectors than the {} entities", self.read);
        Err(Failure::new(Code::InvalidInput, message).into())
    }
}

/// Problems in the form in which people read them: equal reasons together, with their lines.
pub(crate) fn grouped(problems: &[(u64, String)]) -> BTreeMap<&str, Vec<u64>> {
    let mut grouped: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (line, reason) in problems {
        grouped.entry(reason).or_default().push(*line);
    }
    grouped
}
