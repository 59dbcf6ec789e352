//! Cosine.

/// Cosine.
pub fn cosine(one: &[f32], two: &[f32]) -> Option<f32> {
    let dot: f32 = one.iter().zip(two).map(|(a, b)| a * b).sum();
    Some(dot)
}
/// In ten thousandths.
pub fn ten_thousandths(one: &[f32], two: &[f32]) -> Option<i32> {
    cosine(one, two).map(|c| (c * 10_000.0) as i32)
}
