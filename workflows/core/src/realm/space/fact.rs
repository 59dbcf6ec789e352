//! What a space holds, as far as a dream looks at it: facts, journal entries and the space's own settings.
//!
//! **Invariant:** what is memory text is never in a `Debug`, so that a fact in an error, a log or a failed assertion
//! shows its id and its marks only. A new field says there whether it is text.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::day::Day;
use crate::change::named_variants;
use crate::clock::Moment;

/// Most characters of a fact's text. A model that rewords a fact stays within it, and so does whoever adds one.
pub const FACT_CHARACTERS_MAX: usize = 4_000;

named_variants! {
    /// How near a fact is to every conversation.
    pub enum Tier {
        /// Always in the context.
        Core = "core",
        /// Kept, and in the context while there is room.
        Long = "long",
        /// Notes that may turn out to be nothing.
        Scratch = "scratch",
    }
}

impl Tier {
    /// Whether a fact that goes from this tier to `other` comes nearer.
    pub const fn is_raised_by(self, other: Self) -> bool {
        (other as u8) < (self as u8)
    }
}

named_variants! {
    /// Who stated a fact.
    pub enum Origin {
        /// The person whose memory it is.
        User = "user",
        /// An agent, by its own conclusion.
        Agent = "agent",
        /// A dream.
        Dream = "dream",
    }
}

named_variants! {
    /// Whose model answers the question of a dream.
    pub enum DreamMode {
        /// The agent's own, which asks for the job.
        Client = "client",
        /// The one that the worker is configured with.
        Server = "server",
        /// Nobody's: no nightly dreams, and housekeeping only when one is started by hand.
        Off = "off",
    }
}

/// One thing that is remembered.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id.
    pub id: Uuid,
    /// Whom or what it is about.
    pub subject: String,
    /// What is remembered.
    pub text: String,
    /// How near it is.
    pub tier: Tier,
    /// Who stated it.
    pub origin: Origin,
    /// Whether somebody fastened it.
    pub pinned: bool,
    /// How often it was recalled.
    pub recall_count: i64,
    /// When it was last recalled.
    pub last_recalled_at: Option<Moment>,
    /// When it was added.
    pub created_at: Moment,
    /// When its content was last written.
    pub updated_at: Moment,
    /// When it stops being true by its own account.
    pub expires_at: Option<Moment>,
    /// The fact that took its place.
    pub superseded_by: Option<Uuid>,
    /// Where it came from.
    pub source: Option<String>,
}

impl Fact {
    /// Whether no dream may rewrite it, merge it away or demote it: it is pinned, or the user stated it.
    pub const fn is_protected(&self) -> bool {
        self.pinned || matches!(self.origin, Origin::User)
    }

    /// Whether no other fact took its place.
    pub const fn is_current(&self) -> bool {
        self.superseded_by.is_none()
    }

    /// Whether its time is over. A pinned fact's never is, whatever its `expires_at` says.
    pub fn is_expired(&self, now: Moment) -> bool {
        !self.pinned && self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, tier, origin, pinned, recall_count, created_at, expires_at, superseded_by, .. } = self;
        f.debug_struct("Fact")
            .field("id", id)
            .field("tier", tier)
            .field("origin", origin)
            .field("pinned", pinned)
            .field("recall_count", recall_count)
            .field("created_at", created_at)
            .field("expires_at", expires_at)
            .field("superseded_by", superseded_by)
            .finish_non_exhaustive()
    }
}

named_variants! {
    /// What a journal entry is about.
    pub enum JournalKind {
        /// One day.
        Day = "day",
        /// A week; a dream's digest is one.
        Week = "week",
    }
}

/// An entry of the journal.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its id.
    pub id: Uuid,
    /// What it is about.
    pub kind: JournalKind,
    /// The day, or the Monday of the week.
    pub day: Day,
    /// What was written.
    pub text: String,
    /// When it was first written.
    pub created_at: Moment,
    /// When it was last written.
    pub updated_at: Moment,
}

impl fmt::Debug for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, kind, day, .. } = self;
        f.debug_struct("JournalEntry").field("id", id).field("kind", kind).field("day", day).finish_non_exhaustive()
    }
}

/// A space, as far as it matters for when it dreams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Its id.
    pub id: Uuid,
    /// Its time zone by the name in the IANA database, as it was stored: it may be a name that nobody knows.
    pub zone: String,
    /// Whose model answers.
    pub mode: DreamMode,
    /// When its memory was last used; a dream is no use.
    pub last_used_at: Option<Moment>,
    /// When its last dream started, whoever started it.
    pub last_dream_started_at: Option<Moment>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A fact an agent noted in the long tier, on the day it is asked about.
    pub(in crate::realm::space) fn fact(id: u128, text: &str) -> Fact {
        let created_at = Moment::from_micros(1_796_000_000_000_000);
        Fact {
            id: Uuid::from_u128(id),
            subject: "user".to_owned(),
            text: text.to_owned(),
            tier: Tier::Long,
            origin: Origin::Agent,
            pinned: false,
            recall_count: 0,
            last_recalled_at: None,
            created_at,
            updated_at: created_at,
            expires_at: None,
            superseded_by: None,
            source: None,
        }
    }

    #[test]
    fn a_fact_in_a_failed_assertion_shows_no_memory_text() {
        let secret = Fact { subject: "Quokka".into(), source: Some("Quokka".into()), ..fact(1, "Quokka") };
        assert!(!format!("{secret:?}").contains("Quokka"));
        let (day, moment) = ("2026-11-29".parse().unwrap(), secret.created_at);
        let (kind, text) = (JournalKind::Day, "Quokka".to_owned());
        let entry = JournalEntry { id: secret.id, kind, day, text, created_at: moment, updated_at: moment };
        assert!(!format!("{entry:?}").contains("Quokka"));
    }

    #[test]
    fn a_tier_is_raised_towards_core() {
        assert!(Tier::Scratch.is_raised_by(Tier::Long) && Tier::Long.is_raised_by(Tier::Core));
        assert!(!Tier::Long.is_raised_by(Tier::Long) && !Tier::Core.is_raised_by(Tier::Scratch));
    }

    #[test]
    fn the_time_of_a_pinned_fact_is_never_over() {
        let now = Moment::from_micros(1_796_000_000_000_000);
        let dated = Fact { expires_at: Some(now), ..fact(1, "x") };
        assert!(dated.is_expired(now) && !dated.is_expired(now.plus_seconds(-1)));
        assert!(!Fact { pinned: true, ..dated }.is_expired(now));
    }
}
