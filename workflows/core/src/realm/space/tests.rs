//! What is shown of the realm as a whole.

mod hostile;
mod judging;
mod nights;
mod world;
