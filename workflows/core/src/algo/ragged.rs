//! Rows of unequal length in two flat arrays: neighbours, tokens, chunks and attributes of an entity.
//!
//! **Invariant:** row `i` is `items[starts[i]..starts[i + 1]]`; there is always one more start than there are rows.

/// Ragged of unequal length, stored without an allocation per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl<T: Copy> Ragged<T> {
    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.starts.push(clamped(self.items.len()));
    }

    /// Row number `index`.
    pub fn row(&self, index: usize) -> &[T] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items all rows hold together.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// The same rows in another order: new row `i` is old row `order[i]`.
    #[must_use]
    pub fn reordered(&self, order: &[u32]) -> Self {
        let mut ragged =
            Self { starts: Vec::with_capacity(order.len() + 1), items: Vec::with_capacity(self.items.len()) };
        ragged.starts.push(0);
        for &old in order {
            ragged.push(self.row(old as usize).iter().copied());
        }
        ragged
    }
}

impl<T: Copy + Ord> Ragged<T> {
    /// Groups `(row, item)` pairs into `row_count` rows; each row comes out sorted and without repetition.
    pub fn from_pairs(row_count: usize, mut pairs: Vec<(u32, T)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0_u32; row_count + 1];
        for (row, _) in &pairs {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..row_count {
            starts[row + 1] += starts[row];
        }
        Self { starts, items: pairs.into_iter().map(|(_, item)| item).collect() }
    }
}

/// How many items two sorted rows without repetition have in common.
pub fn shared_count<T: Ord>(left: &[T], right: &[T]) -> usize {
    let (mut at_left, mut at_right, mut shared) = (0, 0, 0);
    while at_left < left.len() && at_right < right.len() {
        match left[at_left].cmp(&right[at_right]) {
            std::cmp::Ordering::Less => at_left += 1,
            std::cmp::Ordering::Greater => at_right += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                at_left += 1;
                at_right += 1;
            }
        }
    }
    shared
}

/// Positions are `u32`: a namespace with more than four thousand million items is refused long before.
fn clamped(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_any_order_give_the_same_sorted_rows() {
        let rows = Ragged::from_pairs(3, vec![(2, 9), (0, 5), (0, 4), (2, 9)]);
        assert_eq!((rows.row(0), rows.row(1), rows.row(2)), (&[4, 5][..], &[][..], &[9][..]));
    }

    #[test]
    fn reordering_moves_whole_rows() {
        let mut rows = Ragged::default();
        rows.push([1, 2]);
        rows.push([3]);
        let turned = rows.reordered(&[1, 0]);
        assert_eq!((turned.row(0), turned.row(1)), (&[3][..], &[1, 2][..]));
    }

    #[test]
    fn only_common_items_are_counted() {
        assert_eq!(shared_count(&[1, 3, 5], &[2, 3, 5, 7]), 2);
        assert_eq!(shared_count::<u32>(&[], &[1]), 0);
    }
}
