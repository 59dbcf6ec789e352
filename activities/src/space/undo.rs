//! What is special of taking a run over a space back: it can be done for seven days, and of a run that waits too.

use dream_core::failure::{Code, Failure};
use dream_core::run::{Realm, RunState};
use dream_ports::run::{Closing, RunRecord};

use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Days from the end of a run in which it can be taken back. The public description promises it to users.
pub const UNDO_DAYS: i64 = 7;

const SECONDS_PER_DAY: i64 = 86_400;

/// Sees to it that a run can be taken back now: one that waits for an answer is closed first, one that ended too long ago is
/// gone.
pub async fn make_ready(handle: &StoreHandle, record: RunRecord, dry_run: bool) -> Result<RunRecord, Failure> {
    if record.realm != Realm::Space {
        return Ok(record);
    }
    if record.state == RunState::AwaitingClient && record.finished_at.is_none() && !dry_run {
        handle.store.close(record.run, RunState::Abandoned, &Closing::default()).await.or_fail()?;
        return handle.store.run(record.run).await.or_fail();
    }
    let now = handle.store.now().await.or_fail()?;
    let is_gone = record.finished_at.is_some_and(|end| now.seconds_since(end) >= UNDO_DAYS * SECONDS_PER_DAY);
    if is_gone {
        let message = format!("run {} ended more than {UNDO_DAYS} days ago", record.run);
        return Err(Failure::new(Code::Gone, message));
    }
    Ok(record)
}
