//! The activities as workflows see them: names and shapes, no bodies.
//!
//! The macro asks for bodies and never runs them: what does the work is `activities/src/temporal.rs`, registered under the same
//! names.
//!
//! **Invariant:** a name here is in recorded histories and never changes. A body that needs another shape is another activity.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]
#![allow(clippy::needless_pass_by_value, reason = "shapes without bodies")]

use temporalio_common::ActivityError;
use temporalio_macros::activity_definitions;

use crate::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, DuePage, DuePageDone, Judged, Look, Mirrored, Namespaces,
    NamespacesPage, Part, PartDone, Reconciled, Report, Reported, RequestCall, RequestDone, RunRef, Sealed,
    SettleReview, Swept, UndoInput, Undone,
};

/// The activities of Dream Worker.
pub struct DreamActivities;

#[activity_definitions]
impl DreamActivities {
    #[activity(name = "begin")]
    pub fn begin(call: Begin) -> Result<Begun, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "audit")]
    pub fn audit(part: Part) -> Result<PartDone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "plan")]
    pub fn plan(part: Part) -> Result<PartDone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "seal")]
    pub fn seal(run: RunRef) -> Result<Sealed, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "prepare")]
    pub fn prepare(run: RunRef) -> Result<PartDone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "park_for_review")]
    pub fn park_for_review(run: RunRef) -> Result<(), ActivityError> {
        unimplemented!()
    }

    #[activity(name = "look")]
    pub fn look(run: RunRef) -> Result<Look, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "record_request")]
    pub fn record_request(call: RequestCall) -> Result<RequestDone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "settle_review")]
    pub fn settle_review(call: SettleReview) -> Result<(), ActivityError> {
        unimplemented!()
    }

    #[activity(name = "apply")]
    pub fn apply(call: ApplyStretch) -> Result<Applied, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "mirror")]
    pub fn mirror(run: RunRef) -> Result<Mirrored, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "reconcile")]
    pub fn reconcile() -> Result<Reconciled, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "tidy")]
    pub fn tidy(run: RunRef) -> Result<Sealed, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "ask")]
    pub fn ask(run: RunRef) -> Result<Asked, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "judge")]
    pub fn judge(run: RunRef) -> Result<Judged, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "report")]
    pub fn report(call: Report) -> Result<Reported, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "undo")]
    pub fn undo(input: UndoInput) -> Result<Undone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "sweep")]
    pub fn sweep(store: String) -> Result<Swept, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "start_due")]
    pub fn start_due(call: DuePage) -> Result<DuePageDone, ActivityError> {
        unimplemented!()
    }

    #[activity(name = "namespaces")]
    pub fn namespaces(call: Namespaces) -> Result<NamespacesPage, ActivityError> {
        unimplemented!()
    }
}

/// The names of the activities as types, for the side that has the bodies.
pub mod markers {
    pub use super::dream_activities::*;
}
