//! The `space` realm: an agent's facts and journal, tidied by rules and consolidated by a model's answer.
//!
//! A round of housekeeping needs no model. The round after it hands out a job and judges the answer; what is admitted becomes
//! ops that hold ids, never text.
//!
//! **Invariant:** a model only ever suggests. What protects a fact stands in one place for every suggestion, and is asked
//! again of the locked row.

pub mod answer;
mod broken;
pub mod changes;
pub mod day;
pub mod draft;
pub mod due;
pub mod effect;
pub mod explain;
pub mod fact;
pub mod forget;
pub mod housekeeping;
pub mod job;
pub mod judge;
pub mod profile;
pub mod report;
pub mod row;
pub mod rules;
pub mod sameness;
pub mod ticket;
pub mod wording;
pub mod zone;

#[cfg(test)]
mod tests;
