//! Where reports go.

pub mod file;
