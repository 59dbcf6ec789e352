//! Union-find over dense numbers; the root of a set is always its smallest member.
//!
//! **Invariant:** the sets and their roots depend on which pairs were joined, never on the order of joining.

/// Disjoint sets of the numbers below a count.
#[derive(Clone, Debug)]
pub struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// Every number in a set of its own.
    pub fn new(count: u32) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// The smallest member of the set that `member` is in.
    pub fn root(&mut self, member: u32) -> u32 {
        let mut at = member;
        while self.parents[at as usize] != at {
            let grandparent = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = grandparent;
            at = grandparent;
        }
        at
    }

    /// Joins two sets; says whether they were apart.
    pub fn join(&mut self, left: u32, right: u32) -> bool {
        let (left, right) = (self.root(left), self.root(right));
        self.parents[left.max(right) as usize] = left.min(right);
        left != right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_smallest_member_whatever_the_order_of_joining() {
        let mut forward = UnionFind::new(6);
        let mut backward = UnionFind::new(6);
        let pairs = [(5, 3), (3, 1), (2, 4)];
        for (left, right) in pairs {
            forward.join(left, right);
        }
        for (left, right) in pairs.into_iter().rev() {
            backward.join(right, left);
        }
        let roots = |sets: &mut UnionFind| (0..6).map(|member| sets.root(member)).collect::<Vec<_>>();
        assert_eq!(roots(&mut forward), vec![0, 1, 2, 1, 2, 1]);
        assert_eq!(roots(&mut forward), roots(&mut backward));
    }

    #[test]
    fn joining_twice_changes_nothing() {
        let mut sets = UnionFind::new(2);
        assert!(sets.join(0, 1));
        assert!(!sets.join(1, 0));
    }
}
