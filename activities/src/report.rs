//! Report: the run is closed and what it did is written down.

use std::collections::BTreeMap;

use dream_core::failure::Failure;
use dream_core::id::RunId;
use dream_core::op::OpKind;
use dream_core::realm::graph::drift::{DriftReport, Frequencies};
use dream_core::run::{Realm, RunState};
use dream_ports::run::{Closing, RunRecord};
use dream_workflows::contract::{Report, Reported};

use crate::begin::RunSettings;
use crate::failure::{ResultExt, defect};
use crate::observe;
use crate::sink::file;
use crate::world::{StoreHandle, World};

/// Closes a run and writes its report. Reporting a closed run writes its report again.
pub async fn report(world: &World, call: Report) -> Result<Reported, Failure> {
    let (handle, record, _) = world.load(&call.run).await?;
    if record.finished_at.is_none() && call.state == RunState::Completed {
        remember_baseline(handle, &record).await?;
    }
    let closing = Closing { error_code: call.failure };
    handle.store.close(record.run, call.state, &closing).await.or_fail()?;
    if record.finished_at.is_none() {
        observe::run_closed(call.state);
    }
    write_files(world, handle, &call.run.store, record.run).await?;
    let record = handle.store.run(record.run).await.or_fail()?;
    let counts = handle.store.counts(record.run).await.or_fail()?;
    let mut ops: BTreeMap<String, u32> = BTreeMap::new();
    for (state, count) in counts.values().flatten() {
        *ops.entry(state.to_string()).or_default() += count;
    }
    Ok(Reported {
        run_id: record.run.to_string(),
        state: record.state,
        plan_hash: record.plan_hash.map(|hash| hash.0),
        ops,
        report_path: record.report_path,
        skip_reasons: record.skip_reasons,
        graph_left: handle.store.owed_by_run(record.run).await.or_fail()?.0,
    })
}

/// What this run saw of the types, for the next run to compare with.
async fn remember_baseline(handle: &StoreHandle, record: &RunRecord) -> Result<(), Failure> {
    let findings = handle.store.findings(record.run).await.or_fail()?;
    let Some(drift) = findings.iter().find(|finding| finding.kind == OpKind::SchemaDriftReport) else { return Ok(()) };
    let report: DriftReport = serde_json::from_str(&drift.payload).map_err(|_| defect("a finding"))?;
    let seen =
        Frequencies { entity: report.entity_frequencies, relationship: report.relationship_frequencies, beyond: 0 };
    let json = serde_json::to_string(&seen).map_err(|_| defect("the baseline"))?;
    handle.store.write_baseline(record.namespace, OpKind::SchemaDriftReport, record.run, &json).await.or_fail()
}

/// Writes the report of a closed run as files, where that is switched on. Writing it again gives the same files.
pub async fn write_files(world: &World, handle: &StoreHandle, store: &str, run: RunId) -> Result<(), Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    // The report of a run over a space is made when somebody asks, from rows that forgetting reaches.
    if record.realm == Realm::Space || !RunSettings::read(&record)?.settings.report_file_sink_enabled {
        return Ok(());
    }
    let now = handle.store.now().await.or_fail()?;
    let written = file::write(handle, store, &record, &world.reports, now).await?;
    let path = written.summary.to_string_lossy();
    handle.store.set_report(run, &path, &written.manifest_sha256).await.or_fail()
}
