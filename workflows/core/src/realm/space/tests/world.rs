//! A small world to judge answers in: facts by short ids, and verdicts that can be read in a review.

use uuid::Uuid;

use super::super::answer::{ANSWER_BYTES_MAX, Answer, parse};
use super::super::changes::{Change, Judged};
use super::super::fact::tests::fact;
use super::super::fact::{Fact, Origin, Tier};
use super::super::job::{Job, Material, cut};
use super::super::judge::{Recorded, World, judge};
use super::super::zone::Zone;
use crate::digest::TextKey;

pub(super) const KEY: TextKey = TextKey([9; 32]);

/// Facts `f1`, `f2` … of a job. A word in front says what is special about one: `user`, `pinned`, `core`, `scratch`.
pub(super) fn facts(lines: &[&str]) -> Vec<Fact> {
    let marked = |(line, id): (&&str, u128)| {
        let (mark, text) = line.split_once(": ").unwrap_or(("", line));
        let mut fact = fact(id, text);
        for mark in mark.split(' ') {
            match mark {
                "user" => fact.origin = Origin::User,
                "pinned" => fact.pinned = true,
                "scratch" => fact.tier = Tier::Scratch,
                "core" => fact.tier = Tier::Core,
                _ => {}
            }
        }
        fact
    };
    lines.iter().zip(1..).map(marked).collect()
}

pub(super) fn job(facts: &[Fact]) -> Job {
    let (zone, now) = (Zone::named("UTC").unwrap(), fact(0, "").created_at);
    cut(Material { facts, journal: &[], zone: &zone, now, key: &KEY })
}

pub(super) fn answer(json: &str) -> Answer {
    parse(json.as_bytes(), ANSWER_BYTES_MAX).unwrap_or_else(|broken| panic!("{broken}"))
}

/// Judges an answer to the job of `then` on the facts of `now`.
pub(super) fn judged_since(then: &[Fact], now: &[Fact], answer: &Answer) -> (Job, Judged) {
    let job = job(then);
    let recorded = Recorded::default();
    let judged = judge(answer, World { ticket: &job.ticket, facts: now, recorded: &recorded, key: &KEY });
    (job, judged)
}

/// What became of an answer, a line for each change and each line of the list.
pub(super) fn told(job: &Job, judged: &Judged) -> String {
    let name = |id: Uuid| {
        let place = job.ticket.facts.iter().position(|premise| premise.fact == id);
        place.map_or("?".to_owned(), |place| format!("f{}", place + 1))
    };
    let names = |ids: Vec<Uuid>| ids.into_iter().map(&name).collect::<Vec<_>>().join(" ");
    let all = |change: &Change| names(change.premises().iter().map(|premise| premise.fact).collect());
    let changes = judged.changes.iter().map(|change| match change {
        Change::Merge { reworded: true, .. } => format!("merge {}, reworded", all(change)),
        Change::Merge { .. } => format!("merge {}", all(change)),
        Change::Promote { fact, to, .. } => format!("promote {} from {} to {to}", all(change), fact.tier),
        Change::Digest { week, .. } => format!("digest of {week}"),
        Change::Profile { .. } => format!("profile{}", if judged.profile_cut { ", cut" } else { "" }),
        Change::Proposal { kind, reason: Some(reason), .. } => format!("propose {kind} {} ({reason})", all(change)),
        Change::Proposal { kind, .. } => format!("propose {kind} {}", all(change)).trim_end().to_owned(),
        Change::Contradiction { .. } => format!("contradiction {}", all(change)),
    });
    let listed = judged
        .listed
        .iter()
        .map(|line| format!("- {} {} {}", line.item, line.rule, names(line.facts.clone())).trim_end().to_owned());
    changes.chain(listed).collect::<Vec<_>>().join("\n")
}
