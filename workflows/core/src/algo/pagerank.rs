//! Weighted `PageRank`, as Khora computes it, so that scores can be compared to the last bit.
//!
//! Damping 0.85, at most 100 sweeps, start at 1/n, `new[i] = 0.15/n + 0.85 · Σ score[s] · (w / out_weight[s])` over the
//! incoming edges in the order they were given, until the scores move by less than 10⁻⁶ in sum. What flows into nodes
//! without edges is not given back, so isolated nodes keep 0.15/n and the sum is below 1.

const DAMPING: f64 = 0.85;

/// Sweeps at most; the error after them is 0.85¹⁰⁰, below 10⁻⁷.
const SWEEPS_MAX: usize = 100;

const MOVEMENT_MIN: f64 = 1e-6;

/// Scores of `count` nodes. Edges run from the first to the second node, with a weight.
pub fn pagerank(count: usize, edges: &[(u32, u32, f64)]) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "node counts are far below 2^53")]
    let nodes = count as f64;
    let mut out_weight = vec![0.0; count];
    let mut incoming_ends = vec![0_usize; count + 1];
    for (source, target, weight) in edges {
        out_weight[*source as usize] += weight;
        incoming_ends[*target as usize + 1] += 1;
    }
    for node in 0..count {
        incoming_ends[node + 1] += incoming_ends[node];
    }
    let mut next = incoming_ends.clone();
    let mut incoming = vec![(0_u32, 0.0_f64); edges.len()];
    for (source, target, weight) in edges {
        let place = &mut next[*target as usize];
        incoming[*place] = (*source, weight / out_weight[*source as usize]);
        *place += 1;
    }
    let mut scores = vec![1.0 / nodes; count];
    for _sweep in 0..SWEEPS_MAX {
        let new: Vec<f64> = (0..count)
            .map(|node| {
                let shares = &incoming[incoming_ends[node]..incoming_ends[node + 1]];
                let sum: f64 = shares.iter().map(|(source, share)| scores[*source as usize] * share).sum();
                (1.0 - DAMPING) / nodes + DAMPING * sum
            })
            .collect();
        let movement: f64 = new.iter().zip(&scores).map(|(new, old)| (new - old).abs()).sum();
        scores = new;
        if movement < MOVEMENT_MIN {
            break;
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scores_are_khoras() {
        let edges = [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 0.2), (2, 1, 0.2)];
        let expected =
            [0.295_945_762_317_929_7, 0.364_865_085_218_484_6, 0.089_189_152_463_585_94, 0.037_500_000_000_000_006];
        assert_eq!(pagerank(4, &edges), expected);
    }

    #[test]
    fn nobody_has_no_scores() {
        assert!(pagerank(0, &[]).is_empty());
    }
}
