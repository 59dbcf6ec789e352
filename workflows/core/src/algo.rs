//! Algorithms that know nothing of memories.

pub mod cosine;
