//! Records as `dream import` takes them, with a table of labels beside them.

use std::collections::BTreeMap;
use std::path::Path;

use dream_core::change::{Column, Row, Value};
use dream_core::clock::Moment;
use dream_core::failure::Code;
use uuid::Uuid;

use super::Set;
use crate::exit::{Fault, OrFile as _};
use crate::transfer::format::{ChunkLine, EntityLine, RelationshipLine};
use crate::transfer::lines::{Lines, Spool, Vectors, kind, parse, usable};

/// Reads a file and its labels. What is retired at `now` is left out, as a planner's view of a store leaves it out.
pub(crate) fn read(file: &Path, truth: &Path, vectors: Option<&Vectors>, now: Moment) -> Result<Set, Fault> {
    let mut labels = labels(truth)?;
    let mut set = Set::default();
    if let Some(vectors) = vectors {
        Spool::check(vectors, file)?;
    }
    let mut spool = vectors.map(Spool::open).transpose()?;
    let mut lines = Lines::open(file)?;
    while let Some((number, text)) = lines.next()? {
        match kind(&text) {
            Ok("entity") => {
                // The vector is read also for a line that cannot be used: vectors stand in the order of the lines.
                let vector = spool.as_mut().map(Spool::next).transpose()?;
                let row = parse::<EntityLine>(&text).and_then(|line| usable(line.row(now)));
                match row.and_then(|row| Ok((row, vector.transpose()?))) {
                    Ok((mut row, vector)) => {
                        if let (Some(vector), Some(vectors)) = (vector, vectors) {
                            row.put(Column::Embedding, Value::Vector(vector));
                            row.put(Column::EmbeddingModel, Value::Text(vectors.model.clone()));
                        }
                        let label = labels.remove(&row.id);
                        if is_live(&row, &[Column::ValidUntil], now) {
                            set.push(number, row, label);
                        }
                    }
                    Err(reason) => set.problems.add(number, reason),
                }
            }
            Ok("relationship") => match parse::<RelationshipLine>(&text).and_then(|line| usable(line.row(now))) {
                Ok(row) => edge(&mut set, &row, now),
                Err(reason) => set.problems.add(number, reason),
            },
            // Chunks are no evidence of their own: an entity names those that mention it.
            Ok("chunk") => {
                if let Err(reason) = parse::<ChunkLine>(&text).and_then(|line| usable(line.chunk(now))) {
                    set.problems.add(number, reason);
                }
            }
            Ok(_) => set.problems.add(number, "kind: expected entity, relationship or chunk".to_owned()),
            Err(reason) => set.problems.add(number, reason),
        }
    }
    if set.labels.iter().all(Option::is_none) {
        let message = format!("{} has no label for any entity of {}", truth.display(), file.display());
        return Err(Fault::new(Code::InvalidInput, message));
    }
    Ok(set)
}

fn is_live(row: &Row, ends: &[Column], now: Moment) -> bool {
    ends.iter().all(|column| row.get(*column).time().is_none_or(|end| end > now))
}

fn edge(set: &mut Set, row: &Row, now: Moment) {
    let is_ended = [Column::ValidTo, Column::InvalidatedAt].into_iter().any(|column| !row.get(column).is_null());
    let ends = row.get(Column::SourceEntityId).id().zip(row.get(Column::TargetEntityId).id());
    if let Some((source, target)) = ends.filter(|_| !is_ended && is_live(row, &[Column::ValidUntil], now)) {
        let relationship_type = row.get(Column::RelationshipType).text().unwrap_or_default();
        set.edges.push((source, target, relationship_type.to_owned()));
    }
}

/// Two columns, separated by a tab: entity id and label. A first line that names no id is taken for headings.
fn labels(path: &Path) -> Result<BTreeMap<Uuid, String>, Fault> {
    let text = std::fs::read_to_string(path).or_file(path, "read")?;
    let mut labels = BTreeMap::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns = line.split_once('\t').and_then(|(id, label)| Some((id.trim().parse().ok()?, label.trim())));
        match columns {
            Some((id, label)) => {
                labels.insert(id, label.to_owned());
            }
            None if place == 0 => {}
            None => {
                let message =
                    format!("{}, line {}: expected an entity id, a tab and a label", path.display(), place + 1);
                return Err(Fault::new(Code::InvalidInput, message));
            }
        }
    }
    Ok(labels)
}
