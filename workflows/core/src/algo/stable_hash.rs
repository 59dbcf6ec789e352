//! A 64-bit hash that is the same in every build, on every machine and for ever.
//!
//! Blocking sorts by it and sampling draws by it, so a plan depends on it. It is not a digest: nothing secret and
//! nothing that must not collide rests on it alone.
//!
//! **Invariant:** the constants never change; a new scheme is a new function.

/// Odd constant that spreads each word over the state: the fractional digits of the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Second odd constant, so that two rounds are not each other's inverse.
const STIR: u64 = 0xd6e8_feb8_6659_fd93;

/// Hashes `bytes` under `seed`; different seeds give unrelated hashes.
pub fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed.wrapping_add(SPREAD), bytes.len() as u64);
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        let mut raw = [0; 8];
        raw.copy_from_slice(word);
        state = mix(state, u64::from_le_bytes(raw));
    }
    let mut rest = [0; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    finish(mix(state, u64::from_le_bytes(rest)))
}

/// Hashes one number under `seed`.
pub fn hash_number(seed: u64, number: u64) -> u64 {
    finish(mix(mix(seed.wrapping_add(SPREAD), 8), number))
}

/// Folds `word` into a running state.
fn mix(state: u64, word: u64) -> u64 {
    let stirred = (state ^ word).wrapping_mul(SPREAD);
    (stirred ^ (stirred >> 29)).wrapping_mul(STIR).rotate_left(31)
}

/// Spreads the last word over all bits.
fn finish(state: u64) -> u64 {
    let once = (state ^ (state >> 32)).wrapping_mul(SPREAD);
    let twice = (once ^ (once >> 29)).wrapping_mul(STIR);
    twice ^ (twice >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_text_never_changes_between_versions() {
        assert_eq!(hash_bytes(0, b""), 6_779_296_095_614_408_659);
        assert_eq!(hash_bytes(1, b"open ai"), 9_236_751_978_698_540_641);
        assert_eq!(hash_number(1, 42), 1_712_687_858_253_666_773);
    }

    #[test]
    fn a_trailing_zero_byte_makes_another_hash() {
        assert_ne!(hash_bytes(7, b"ab"), hash_bytes(7, b"ab\0"));
    }

    #[test]
    fn short_texts_do_not_collide() {
        let mut seen: Vec<u64> = (0_u32..200_000).map(|n| hash_bytes(3, &n.to_le_bytes())).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 200_000);
    }
}
