//! Quantiles, in the two ways Khora takes them.

/// The value below which `threshold` percent of the scores lie: cut points of the inclusive method with 100 groups, linear
/// between order statistics. A threshold below 2 means the first cut point, and fractions are cut off. One score is its own
/// cut; of none there is none.
pub fn percentile_cut(scores: &[f64], threshold: f64) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    if last == 0 {
        return sorted.first().copied();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage, checked at the door")]
    let cut = (threshold.clamp(0.0, 99.0) as usize).max(1);
    let position = cut * last;
    let (below, rest) = (position / 100, position % 100);
    let above = (below + 1).min(last);
    #[expect(clippy::cast_precision_loss, reason = "below 100")]
    let part = rest as f64;
    Some((sorted[below] * (100.0 - part) + sorted[above] * part) / 100.0)
}

/// The nearest-rank quantile of sorted lengths: the value at rank ⌈q·n⌉, at least the first; 0 of none.
pub fn nearest_rank(sorted: &[u32], per_hundred: usize) -> u32 {
    let rank = (sorted.len() * per_hundred).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lie_between_order_statistics() {
        let scores = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(percentile_cut(&scores, 50.0), Some(3.0));
        assert_eq!(percentile_cut(&scores, 5.9), Some(1.2));
        assert_eq!(percentile_cut(&scores, 0.0), percentile_cut(&scores, 1.0));
        assert_eq!(percentile_cut(&[7.0], 5.0), Some(7.0));
        assert_eq!(percentile_cut(&[], 5.0), None);
    }

    #[test]
    fn ranks_are_nearest() {
        let lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        assert_eq!((nearest_rank(&lengths, 50), nearest_rank(&lengths, 90), nearest_rank(&lengths, 99)), (5, 9, 10));
        assert_eq!(nearest_rank(&[4], 99), 4);
        assert_eq!(nearest_rank(&[], 50), 0);
    }
}
