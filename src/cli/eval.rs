//! `dream eval`

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use dream_activities::feed::dedupe_settings;
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};

use crate::config::Config;
use crate::eval::scorecard::{Floors, Scorecard};
use crate::eval::table::{Columns, Truth, TypeFrom};
use crate::eval::{Set, jsonl, table};
use crate::exit::{Exit, Fault};
use crate::term;
use crate::transfer::lines::Vectors;

#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Measures dedupe on records whose true identity is known: precision, recall and F1 over final clusters.
    ///
    /// Works straight from a file, without a store, under the configured thresholds. Fails, with exit code 7, where nothing
    /// is merged or a floor is not reached.
    Dedupe(Box<Dedupe>),
}

#[derive(Debug, Args)]
pub(crate) struct Dedupe {
    /// JSON lines as `dream import` takes them (FILE.jsonl), or a table with a line of headings (any other name).
    file: PathBuf,
    /// What each record truly is. For JSON lines a file of two columns, entity id and label, with a tab between; for a table
    /// the column of the label.
    #[arg(long, required_unless_present = "pairs")]
    truth: Option<String>,
    /// JSON lines: vectors as little-endian 16-bit floats, in the order of the entity lines.
    #[arg(long, requires_all = ["dimension", "model"])]
    embeddings: Option<PathBuf>,
    /// Numbers per vector.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=16_000))]
    dimension: Option<u32>,
    /// The model that made the vectors.
    #[arg(long)]
    model: Option<String>,
    /// Table: the column of the name.
    #[arg(long)]
    name: Option<String>,
    /// Table: the column of the type.
    #[arg(long = "type", value_name = "COLUMN")]
    type_column: Option<String>,
    /// Table: the type of all records.
    #[arg(long, conflicts_with = "type_column")]
    fixed_type: Option<String>,
    /// Table: the column of the id.
    #[arg(long)]
    id: Option<String>,
    /// Table: a column to take as an attribute; may be given several times.
    #[arg(long, value_name = "COLUMN")]
    attribute: Vec<String>,
    /// Table: what separates its columns.
    #[arg(long, default_value_t = ',')]
    delimiter: char,
    /// Table: a second one of the same form.
    #[arg(long, requires_all = ["pairs", "id"], value_name = "FILE")]
    also: Option<PathBuf>,
    /// Two tables: which records are one thing, an id of the first and an id of the second on each line.
    #[arg(long, requires = "also", conflicts_with = "truth", value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Fails below this precision, 0 to 1.
    #[arg(long, value_parser = ratio)]
    precision_min: Option<f64>,
    /// Fails below this recall, 0 to 1.
    #[arg(long, value_parser = ratio)]
    recall_min: Option<f64>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
}

fn ratio(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

impl Eval {
    pub(crate) fn run(self, config: &Config) -> Result<Exit, Fault> {
        let Self::Dedupe(dedupe) = self;
        let set = dedupe.read()?;
        let floors = Floors { precision_min: dedupe.precision_min, recall_min: dedupe.recall_min };
        let started = Instant::now();
        let plan = set.plan(&dedupe_settings(&config.settings))?;
        let scorecard = Scorecard::of(&set, &plan, started.elapsed(), floors);
        set.problems.say();
        if dedupe.json {
            term::json(&scorecard)?;
        } else {
            scorecard.show();
        }
        Ok(match (scorecard.passed, set.problems.is_empty()) {
            (false, _) => Exit::CheckFailed,
            (true, false) => Exit::PartlyDone,
            (true, true) => Exit::Done,
        })
    }
}

impl Dedupe {
    fn read(&self) -> Result<Set, Fault> {
        let is_lines = self.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
        if is_lines { self.read_lines() } else { self.read_table() }
    }

    fn read_lines(&self) -> Result<Set, Fault> {
        let Some(truth) = &self.truth else { return Err(missing("--truth FILE", "JSON lines")) };
        let vectors = match (&self.embeddings, self.dimension, &self.model) {
            (Some(path), Some(dimension), Some(model)) => {
                Some(Vectors { path: path.clone(), dimension, model: model.clone() })
            }
            _ => None,
        };
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
        jsonl::read(&self.file, Path::new(truth), vectors.as_ref(), Moment::from_micros(micros))
    }

    fn read_table(&self) -> Result<Set, Fault> {
        let Some(name) = self.name.clone() else { return Err(missing("--name COLUMN", "a table")) };
        let entity_type = match (&self.type_column, &self.fixed_type) {
            (Some(column), _) => TypeFrom::Column(column.clone()),
            (None, Some(fixed)) => TypeFrom::Fixed(fixed.clone()),
            (None, None) => return Err(missing("--type COLUMN or --fixed-type TYPE", "a table")),
        };
        let delimiter = u8::try_from(self.delimiter)
            .map_err(|_| Failure::new(Code::InvalidInput, "--delimiter: expected an ASCII character"))?;
        let columns = Columns { name, entity_type, id: self.id.clone(), attributes: self.attribute.clone(), delimiter };
        let truth = match (&self.truth, &self.also, &self.pairs) {
            (Some(column), ..) => Truth::Column(column.clone()),
            (None, Some(also), Some(pairs)) => Truth::Pairs { also: also.clone(), pairs: pairs.clone() },
            _ => return Err(missing("--truth COLUMN", "a table")),
        };
        table::read(&self.file, &columns, &truth)
    }
}

fn missing(argument: &str, of: &str) -> Fault {
    Fault::new(Code::InvalidInput, format!("{argument} is needed for {of}"))
}
