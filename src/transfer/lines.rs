//! Reading the files that import and `dream eval` take: lines of JSON, and vectors in a file of their own.
//!
//! **Invariant:** what is wrong with a line is said by the path of a field, never by what stands there.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use dream_core::failure::Code;
use half::f16;
use serde::de::DeserializeOwned;

use crate::exit::{Fault, OrFile as _};
use crate::misfit::misfit;

use super::format::{Kind, Unusable};

/// Bytes of one line. A line beyond this is no memory but a mistake, and is not read into memory.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Vectors in a file of their own, in the order of the entity lines.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// Little-endian half-precision numbers.
    pub(crate) path: PathBuf,
    /// Numbers per vector.
    pub(crate) dimension: u32,
    /// The model that made them.
    pub(crate) model: String,
}

pub(crate) fn usable<T>(row: Result<T, Unusable>) -> Result<T, String> {
    row.map_err(|unusable| unusable.to_string())
}

/// A line's text, or why it cannot be read.
pub(crate) type Text = Result<String, String>;

/// What a line is.
pub(crate) fn kind(text: &Text) -> Result<&'static str, String> {
    let text = text.as_deref().map_err(Clone::clone)?;
    let kind: Kind = serde_json::from_str(text).map_err(|_| "no JSON object with a kind".to_owned())?;
    Ok(match kind.kind.as_str() {
        "entity" => "entity",
        "relationship" => "relationship",
        "chunk" => "chunk",
        _ => "unknown",
    })
}

/// Reads a line. What is wrong is said by the path of its field, never by what stands there.
pub(crate) fn parse<T: DeserializeOwned>(text: &Text) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text.as_deref().map_err(Clone::clone)?);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        // The name of a field that nobody knows may be a memory too.
        let said = error.inner().to_string();
        if said.starts_with("unknown field") {
            "a field is not known; docs/formats/import.md lists them".to_owned()
        } else {
            misfit(error.path(), &said)
        }
    })
}

/// The lines of a file, one at a time.
pub(crate) struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    number: u64,
    /// Bytes read so far.
    pub(crate) bytes: u64,
}

/// Refuses what can be read only once, as a pipe: files are read twice.
fn check_regular(path: &Path) -> Result<(), Fault> {
    if std::fs::metadata(path).or_file(path, "read")?.is_file() {
        return Ok(());
    }
    let message =
        format!("{} is no regular file, and it has to be read twice; write it to a file first", path.display());
    Err(Fault::new(Code::InvalidInput, message))
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        check_regular(path)?;
        let file = File::open(path).or_file(path, "read")?;
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), path: path.to_owned(), number: 0, bytes: 0 })
    }

    /// The next line that is not empty, with its number; no text if it is too long or not UTF-8.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Text)>, Fault> {
        loop {
            let mut line = Vec::new();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut line).or_file(&self.path, "read")?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += read as u64;
            if line.len() > LINE_BYTES_MAX {
                self.skip_rest()?;
                return Ok(Some((self.number, Err(format!("longer than {LINE_BYTES_MAX} bytes")))));
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some((self.number, String::from_utf8(line).map_err(|_| "no UTF-8 text".to_owned()))));
        }
    }

    fn skip_rest(&mut self) -> Result<(), Fault> {
        loop {
            let buffer = self.reader.fill_buf().or_file(&self.path, "read")?;
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
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Spool {
    pub(crate) fn open(vectors: &Vectors) -> Result<Self, Fault> {
        let file = File::open(&vectors.path).or_file(&vectors.path, "read")?;
        let bytes = vec![0; vectors.dimension as usize * 2];
        Ok(Self { reader: BufReader::with_capacity(1 << 20, file), path: vectors.path.clone(), bytes })
    }

    /// Refuses vectors that are not one for each entity of the lines, before anything is done with either.
    pub(crate) fn check(vectors: &Vectors, lines: &Path) -> Result<(), Fault> {
        let path = &vectors.path;
        check_regular(path)?;
        let bytes = std::fs::metadata(path).or_file(path, "read")?.len();
        let per_vector = u64::from(vectors.dimension) * 2;
        let refuse = |what: String| Err(Fault::new(Code::InvalidInput, format!("{} {what}", path.display())));
        if !bytes.is_multiple_of(per_vector) {
            return refuse(format!("holds no whole vectors of dimension {}", vectors.dimension));
        }
        let mut entities = 0;
        let mut lines = Lines::open(lines)?;
        while let Some((_, text)) = lines.next()? {
            entities += u64::from(kind(&text) == Ok("entity"));
        }
        let held = bytes / per_vector;
        if held == entities {
            return Ok(());
        }
        refuse(format!("holds {held} vectors of dimension {}, and there are {entities} entities", vectors.dimension))
    }

    /// The next vector; a reason instead of one that no store can compare.
    pub(crate) fn next(&mut self) -> Result<Result<Vec<f32>, String>, Fault> {
        self.reader.read_exact(&mut self.bytes).or_file(&self.path, "read")?;
        let (numbers, _) = self.bytes.as_chunks::<2>();
        let vector: Vec<f32> = numbers.iter().map(|number| f16::from_le_bytes(*number).to_f32()).collect();
        let is_finite = vector.iter().all(|number| number.is_finite());
        Ok(if is_finite { Ok(vector) } else { Err("embedding: a number is infinite or none".to_owned()) })
    }
}
