//! The one cosine kernel: fixed lanes, fixed order, so that a score has the same bits on every machine.
//!
//! Sixteen partial sums run side by side and are added up in one stated order; a compiler may use wide registers for
//! them, but it may not reorder them. Nothing here uses fused multiply-add.
//!
//! **Invariant:** a score leaves this module as an integer in 1/10,000, is compared as that integer, and is never
//! computed anywhere else.

use serde::{Deserialize, Serialize};

/// How many partial sums run side by side. A change changes scores, and so plans.
const LANES: usize = 16;

/// A score in 1/10,000: what is stored, compared and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(pub i16);

impl Score {
    /// The score of complete agreement.
    pub const ONE: Self = Self(10_000);

    /// The nearest score to a number between -1 and 1; numbers outside are cut off, NaN is zero.
    pub fn from_unit(value: f64) -> Self {
        let scaled = (value.clamp(-1.0, 1.0) * 10_000.0).round();
        #[expect(clippy::cast_possible_truncation, reason = "clamped to ±10,000 above; NaN casts to zero")]
        let stored = scaled as i16;
        Self(stored)
    }

    /// `part` of `whole`, cut off; zero when `whole` is zero.
    pub fn from_ratio(part: u32, whole: u32) -> Self {
        if whole == 0 {
            return Self(0);
        }
        let scaled = u64::from(part) * 10_000 / u64::from(whole);
        Self(i16::try_from(scaled.min(10_000)).unwrap_or(10_000))
    }
}

/// The dot product of two vectors of equal length; the longer one is cut.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let length = left.len().min(right.len());
    let (left_blocks, left_rest) = left[..length].as_chunks::<LANES>();
    let (right_blocks, right_rest) = right[..length].as_chunks::<LANES>();
    let rest = left_rest.iter().zip(right_rest).map(|(one, other)| one * other);
    rest.fold(fold(lane_sums(left_blocks, right_blocks)), |sum, product| sum + product)
}

/// The partial sums of whole blocks. A function of its own, so that the sums stay in wide registers.
#[inline(never)]
fn lane_sums(left: &[[f32; LANES]], right: &[[f32; LANES]]) -> [f32; LANES] {
    let mut lanes = [0.0_f32; LANES];
    for (left_block, right_block) in left.iter().zip(right) {
        for lane in 0..LANES {
            lanes[lane] += left_block[lane] * right_block[lane];
        }
    }
    lanes
}

/// Adds the lanes up as a balanced tree, always in this order.
fn fold(lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    let mut sums = lanes;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

/// One over the length of a vector; `None` for a vector that has no direction: zero, NaN, infinite or overflowing.
pub fn inverse_norm(vector: &[f32]) -> Option<f32> {
    let square = dot(vector, vector);
    if square.is_finite() && square > 0.0 { Some(1.0 / square.sqrt()) } else { None }
}

/// The cosine of two vectors whose inverse norms are known.
pub fn cosine(left: &[f32], left_inverse_norm: f32, right: &[f32], right_inverse_norm: f32) -> Score {
    let raw = f64::from(dot(left, right));
    Score::from_unit(raw * f64::from(left_inverse_norm) * f64::from(right_inverse_norm))
}

/// The cosine of two vectors; `None` if their lengths differ or one has no direction.
pub fn between(left: &[f32], right: &[f32]) -> Option<Score> {
    if left.len() != right.len() {
        return None;
    }
    Some(cosine(left, inverse_norm(left)?, right, inverse_norm(right)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_agrees_with_itself_and_with_its_multiples() {
        let vector: Vec<f32> = (1_u8..=37).map(f32::from).collect();
        let double: Vec<f32> = vector.iter().map(|number| number * 2.0).collect();
        assert_eq!(between(&vector, &double), Some(Score::ONE));
    }

    #[test]
    fn the_order_of_the_two_vectors_does_not_matter() {
        let left: Vec<f32> = (0_u8..100).map(|n| f32::from(n % 7) - 3.0).collect();
        let right: Vec<f32> = (0_u8..100).map(|n| f32::from(n % 11) - 5.0).collect();
        assert_eq!(between(&left, &right), between(&right, &left));
    }

    #[test]
    fn vectors_without_direction_have_no_score() {
        for broken in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0], [f32::MAX, f32::MAX]] {
            assert_eq!(between(&broken, &[1.0, 0.0]), None);
        }
    }

    #[test]
    fn opposite_vectors_score_minus_one() {
        assert_eq!(between(&[1.0, 0.0], &[-2.0, 0.0]), Some(Score(-10_000)));
    }
}
