//! A writer who edits, pins, unpins, adds and forgets all through a dream, on PostgreSQL.

use crate::lab::Lab;
use crate::support::writer::writes_all_through_a_dream;

#[test]
fn nothing_that_somebody_writes_while_a_space_dreams_is_lost() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for seed in 0..3 {
        let mut lab = runtime.block_on(Lab::new());
        lab.program.unset("TEMPORAL_ADDRESS");
        lab.program.run(&["migrate", "--realm", "space"]).expect(0);
        writes_all_through_a_dream(&lab.program, seed);
    }
}
