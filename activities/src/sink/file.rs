//! The file sink: a report as files under `{base}/{namespace}/{date}/{run}.*`.
//!
//! Each file is written beside its place and moved there when it is whole, the manifest last, so that a reader finds a whole
//! report or none. Writing a report again gives the same files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::id::hex;
use dream_core::redact::Redaction;
use dream_core::report::event::{closing, opening};
use dream_core::report::line::{self, line};
use dream_core::report::manifest::{FileDigest, FileEntry, Manifest};
use dream_core::report::summary::Summary;
use dream_core::report::undo::UndoExport;
use dream_core::report::{EntityName, Event, Lens, OpFacts, RunFacts};
use dream_ports::run::RunRecord;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::begin::input_of;
use crate::facts::{audit_facts, op_facts, run_facts};
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Where a report lies, and what seals it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The page that people read.
    pub summary: PathBuf,
    /// SHA-256 of the manifest.
    pub manifest_sha256: String,
}

/// Names of entities by id: name and type.
type Names = BTreeMap<Uuid, (String, String)>;

/// The files of a run, without what comes behind the dot.
pub fn stem(base: &Path, run: &RunFacts) -> PathBuf {
    base.join(run.namespace.to_string()).join(run.started_at.date()).join(run.run.to_string())
}

/// What may be shown in the reports of a run.
pub fn redaction(record: &RunRecord, facts: &RunFacts) -> Result<Redaction, Failure> {
    let redaction = Redaction::new(facts.settings.redact_text);
    Ok(match input_of(record)?.expertise {
        Some(expertise) => redaction.declaring(&expertise),
        None => redaction,
    })
}

/// Writes the report of a run.
pub async fn write(
    handle: &StoreHandle,
    store: &str,
    record: &RunRecord,
    base: &Path,
    now: Moment,
) -> Result<Written, Failure> {
    let facts = run_facts(handle, store, record).await?;
    let redaction = redaction(record, &facts)?;
    let stem = stem(base, &facts);
    let mut files = Files::create(&stem)?;
    let mut folds =
        Folds { summary: Summary::new(&facts), undo: UndoExport::new(&facts, &redaction), files: &mut files };
    folds.files.undo.put(&folds.undo.open())?;
    tell(handle, &facts, &redaction, &mut folds).await?;
    let page = shown(handle, &redaction, &folds.summary).await?;
    let undo_end = folds.undo.close();
    files.undo.put(undo_end)?;
    files.summary.put(&page)?;
    let mut manifest = Manifest::new(&facts, facts.settings.redact_text, now);
    let manifest_sha256 = files.seal(&stem, &mut manifest)?;
    Ok(Written { summary: with_suffix(&stem, "summary.md"), manifest_sha256 })
}

/// The page of a run, without writing anything.
pub async fn page(handle: &StoreHandle, store: &str, record: &RunRecord) -> Result<String, Failure> {
    let facts = run_facts(handle, store, record).await?;
    let redaction = redaction(record, &facts)?;
    let mut summary = Summary::new(&facts);
    for audit in audit_facts(handle, facts.run).await? {
        summary.feed(&Event::Audit(&audit));
    }
    let mut after_seq = 0;
    loop {
        let ops = op_facts(handle, facts.run, after_seq).await?;
        let Some(last) = ops.last() else { break };
        after_seq = last.op.seq;
        ops.iter().for_each(|op| summary.feed(&Event::Op(op)));
    }
    shown(handle, &redaction, &summary).await
}

async fn shown(handle: &StoreHandle, redaction: &Redaction, summary: &Summary<'_>) -> Result<String, Failure> {
    let names = names(handle, summary.entities().into_iter().collect()).await?;
    let find = |id: Uuid| name_of(&names, id);
    Ok(summary.page(&Lens::new(redaction, &find)))
}

struct Folds<'a> {
    summary: Summary<'a>,
    undo: UndoExport<'a>,
    files: &'a mut Files,
}

impl Folds<'_> {
    /// Tells events to the folds, with the names they show.
    fn feed<'e>(
        &mut self,
        run: &RunFacts,
        redaction: &Redaction,
        names: &Names,
        events: impl IntoIterator<Item = Event<'e>>,
    ) -> Result<(), Failure> {
        let find = |id: Uuid| name_of(names, id);
        let lens = Lens::new(redaction, &find);
        for event in events {
            self.summary.feed(&event);
            self.files.events.put(&line(run, &event, &lens))?;
            if let Some(entry) = self.undo.feed(&event) {
                self.files.undo.put(&entry)?;
            }
        }
        Ok(())
    }
}

/// Tells the run to the folds.
async fn tell(
    handle: &StoreHandle,
    facts: &RunFacts,
    redaction: &Redaction,
    folds: &mut Folds<'_>,
) -> Result<(), Failure> {
    let nobody = Names::new();
    folds.feed(facts, redaction, &nobody, opening(facts))?;
    for audit in audit_facts(handle, facts.run).await? {
        let names = names(handle, line::entities(&Event::Audit(&audit))).await?;
        folds.feed(facts, redaction, &names, [Event::Audit(&audit)])?;
    }
    let mut after_seq = 0;
    loop {
        let ops = op_facts(handle, facts.run, after_seq).await?;
        let Some(last) = ops.last() else { break };
        after_seq = last.op.seq;
        let names = names(handle, ops.iter().flat_map(OpFacts::entities).collect()).await?;
        folds.feed(facts, redaction, &names, ops.iter().map(Event::Op))?;
    }
    folds.feed(facts, redaction, &nobody, closing(facts))
}

async fn names(handle: &StoreHandle, mut ids: Vec<Uuid>) -> Result<Names, Failure> {
    ids.sort_unstable();
    ids.dedup();
    let found = handle.store.names(&ids).await.or_fail()?;
    Ok(found.into_iter().map(|(id, name, entity_type)| (id, (name, entity_type))).collect())
}

fn name_of(names: &Names, id: Uuid) -> Option<EntityName<'_>> {
    names.get(&id).map(|(name, entity_type)| EntityName { name, entity_type })
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> Failure {
    let folder = path.parent().unwrap_or(path).display().to_string();
    move |error| {
        Failure::new(Code::ReportUnwritable, format!("the report cannot be written to {folder}: {}", error.kind()))
    }
}

fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// The files of a report while they are written.
struct Files {
    events: Part,
    summary: Part,
    undo: Part,
}

impl Files {
    fn create(stem: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(stem.parent().unwrap_or(stem)).map_err(unwritable(stem))?;
        Ok(Self {
            events: Part::create(stem, "events.jsonl")?,
            summary: Part::create(stem, "summary.md")?,
            undo: Part::create(stem, "undo.json")?,
        })
    }

    /// Moves the files to their places, the manifest last; answers the manifest's digest.
    fn seal(self, stem: &Path, manifest: &mut Manifest) -> Result<String, Failure> {
        for part in [self.events, self.summary, self.undo] {
            let name = part.place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            manifest.add(name, part.finish()?);
        }
        let text = manifest.text();
        let mut part = Part::create(stem, "manifest.json")?;
        part.put(&text)?;
        part.finish()?;
        // The names of the files are on the disk only when their folder is.
        let folder = File::open(stem.parent().unwrap_or(stem)).map_err(unwritable(stem))?;
        folder.sync_all().map_err(unwritable(stem))?;
        Ok(hex(&Sha256::digest(text.as_bytes())))
    }
}

/// One file while it is written.
struct Part {
    place: PathBuf,
    temporary: PathBuf,
    writer: BufWriter<File>,
    digest: FileDigest,
}

impl Part {
    fn create(stem: &Path, suffix: &str) -> Result<Self, Failure> {
        let place = with_suffix(stem, suffix);
        let temporary = with_suffix(stem, &format!("{suffix}.partial"));
        let writer = BufWriter::new(File::create(&temporary).map_err(unwritable(stem))?);
        Ok(Self { place, temporary, writer, digest: FileDigest::default() })
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        self.digest.feed(text.as_bytes());
        self.writer.write_all(text.as_bytes()).map_err(unwritable(&self.place))
    }

    fn finish(mut self) -> Result<FileEntry, Failure> {
        let whole = self.writer.flush().and_then(|()| self.writer.get_ref().sync_all());
        whole.and_then(|()| fs::rename(&self.temporary, &self.place)).map_err(unwritable(&self.place))?;
        Ok(self.digest.finish())
    }
}

/// Removes the report of a run, and its folder if that is empty then. What is not there is not missed.
pub fn remove(summary: &Path) -> io::Result<()> {
    let Some(name) = summary.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let (Some(run), Some(folder)) = (name.strip_suffix(".summary.md"), summary.parent()) else { return Ok(()) };
    for suffix in ["events.jsonl", "summary.md", "undo.json", "manifest.json"] {
        match fs::remove_file(folder.join(format!("{run}.{suffix}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // A folder that still holds other reports stays.
    let _kept = fs::remove_dir(folder);
    Ok(())
}
