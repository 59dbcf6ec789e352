//! Small exact algorithms that planners share: hashing, ragged rows, cosine, edit distance, union-find.
//!
//! **Invariant:** every function here is a pure function of its arguments and gives the same bits on every machine.
//! A new algorithm is a file of its own, with its laws as tests beside it.

pub mod cosine;
pub mod edit;
pub mod pagerank;
pub mod quantile;
pub mod ragged;
pub mod stable_hash;
pub mod union_find;
