//! A writer who edits, pins, unpins, adds and forgets all through a dream, on the embedded store.

use crate::support::program::Program;
use crate::support::writer::writes_all_through_a_dream;

fn seeds() -> u64 {
    if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") { 60 } else { 4 }
}

#[test]
fn nothing_that_somebody_writes_while_a_space_dreams_is_lost() {
    for seed in 0..seeds() {
        let program = Program::bare();
        program.run(&["migrate", "--realm", "space"]).expect(0);
        writes_all_through_a_dream(&program, seed);
    }
}
