//! Reading the files that import and `dream eval` take: lines of JSON, and vectors in a file of their own.
//!
//! **Invariant:** what is wrong with a line is said by the path of a field, never by what stands there.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dream_core::failure::{Code, Failure};
use half::f16;
use serde::de::DeserializeOwned;

use super::format::{Kind, Unusable};

/// Bytes of one line. A line beyond this is no memory but a mistake, and is not read into memory.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

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

pub(crate) fn usable<T>(row: Result<T, Unusable>) -> Result<T, String> {
    row.map_err(|unusable| unusable.to_string())
}

/// What a line is; none for a line that is too long to be read.
pub(crate) fn kind(text: Option<&str>) -> Result<&'static str, String> {
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
pub(crate) fn parse<T: DeserializeOwned>(text: Option<&str>) -> Result<T, String> {
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
pub(crate) struct Lines {
    reader: BufReader<File>,
    number: u64,
    /// Bytes read so far.
    pub(crate) bytes: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), number: 0, bytes: 0 })
    }

    /// The next line that is not empty, with its number; no text if it is too long or not UTF-8.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<(u64, Option<String>)>> {
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
pub(crate) struct Spool {
    reader: BufReader<File>,
    bytes: Vec<u8>,
    read: u64,
}

impl Spool {
    pub(crate) fn open(vectors: &Vectors) -> anyhow::Result<Self> {
        let file = File::open(&vectors.path).with_context(|| format!("{} cannot be read", vectors.path.display()))?;
        let length = file.metadata()?.len();
        let row = vectors.dimension as u64 * 2;
        if row == 0 || !length.is_multiple_of(row) {
            let message = format!("{} holds no whole vectors of dimension {}", vectors.path.display(), vectors.dimension);
            return Err(Failure::new(Code::InvalidInput, message).into());
        }
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), bytes: vec![0; vectors.dimension * 2], read: 0 })
    }

    pub(crate) fn next(&mut self) -> anyhow::Result<Vec<f32>> {
        self.reader.read_exact(&mut self.bytes).map_err(|_| {
            let message = format!("there are only {} vectors, and more entities", self.read);
            Failure::new(Code::InvalidInput, message)
        })?;
        self.read += 1;
        let (numbers, _) = self.bytes.as_chunks::<2>();
        Ok(numbers.iter().map(|number| f16::from_le_bytes(*number).to_f32()).collect())
    }

    pub(crate) fn close(mut self) -> anyhow::Result<()> {
        if self.reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let message = format!("there are more vectors than the {} entities", self.read);
        Err(Failure::new(Code::InvalidInput, message).into())
    }
}
