//! Ranges of ids, so that a comparison of any size holds a part of it at a time.

use uuid::Uuid;

/// The ids from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRange {
    /// The first.
    pub first: Uuid,
    /// The last.
    pub last: Uuid,
}

impl IdRange {
    /// Every id.
    pub const ALL: Self = Self { first: Uuid::nil(), last: Uuid::max() };

    /// Whether an id lies in it.
    pub fn contains(&self, id: Uuid) -> bool {
        self.first <= id && id <= self.last
    }

    /// The part of it that holds the lower half of these ids; none if they are one.
    pub(super) fn lower_half(self, mut ids: Vec<Uuid>) -> Option<Self> {
        ids.sort_unstable();
        ids.dedup();
        let middle = ids.get(ids.len() / 2).filter(|_| ids.len() > 1)?;
        Some(Self { last: Uuid::from_u128(middle.as_u128() - 1), ..self })
    }

    /// What follows it, as wide as holds `wanted` ids if they lie as close as the `held` ones of this range; none if
    /// nothing follows. One that turns out to hold more is halved again.
    pub(super) fn behind(self, held: usize, wanted: usize) -> Option<Self> {
        let first = self.last.as_u128().checked_add(1)?;
        let width = (self.last.as_u128() - self.first.as_u128()) / held.max(1) as u128;
        let last = first.saturating_add(width.max(1).saturating_mul(wanted.max(2) as u128));
        Some(Self { first: Uuid::from_u128(first), last: Uuid::from_u128(last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other_to_the_last_id() {
        let mut range = IdRange { first: Uuid::nil(), last: Uuid::from_u128(9) };
        let mut ranges = 1;
        while let Some(next) = range.behind(10, 1_000) {
            assert_eq!(next.first.as_u128(), range.last.as_u128() + 1);
            (range, ranges) = (next, ranges + 1);
        }
        assert_eq!(range.last, Uuid::max());
        assert!(ranges < 30, "an empty range is followed by a wider one: {ranges}");
    }

    #[test]
    fn the_lower_half_holds_at_least_one() {
        let ids = |numbers: &[u128]| numbers.iter().copied().map(Uuid::from_u128).collect::<Vec<_>>();
        let half = IdRange::ALL.lower_half(ids(&[7, 5, 5])).unwrap();
        assert!(half.contains(Uuid::from_u128(5)) && !half.contains(Uuid::from_u128(7)));
        assert_eq!(IdRange::ALL.lower_half(ids(&[5, 5])), None);
    }
}
