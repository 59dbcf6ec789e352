//! What is shown of the realm as a whole.

mod nights;
