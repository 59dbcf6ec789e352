//! The behavioural suite of the stores, and the saga kit: what must hold of every store, written once.
//!
//! A store brings a [`WorldKit`](kit::WorldKit) and instantiates everything with [`store_suite!`]. A new behaviour is a function
//! in the module of its subject and a name in the list below; a test of this crate tells when one was forgotten.
//!
//! **Invariant:** nothing here waits for time to pass. Where time matters, rows are made older.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "this is test code: what goes wrong must be seen")]
#![expect(missing_docs, reason = "the name of a behaviour is its sentence")]

pub mod actor;
pub mod adopt;
pub mod begin;
pub mod canary;
pub mod forget;
pub mod groups;
pub mod kit;
pub mod laws;
pub mod leases;
pub mod minds;
pub mod mirror;
pub mod names;
pub mod plans;
pub mod references;
pub mod refused;
pub mod requests;
pub mod saga;
pub mod snapshots;
pub mod spaces;
pub mod stale;
pub mod statements;
pub mod sweep;
pub mod transfer;
pub mod undo;
pub mod verdicts;
pub mod world;

/// The tables of Khora's own schema on PostgreSQL that this program reads or writes.
pub const KHORA_POSTGRES: &str = include_str!("../fixtures/khora_postgres.sql");

/// The tables of Khora's own schema in its embedded file that this program reads or writes.
pub const KHORA_SQLITE: &str = include_str!("../fixtures/khora_sqlite.sql");

/// Hands every behaviour, by module and name, to a macro.
#[macro_export]
macro_rules! for_each_behaviour {
    (($($with:tt)+), $open:path) => {
        $($with)+! { $open;
            begin {
                both_ids_lead_to_one_namespace
                of_many_that_start_at_once_exactly_one_holds
                a_run_that_begins_twice_at_once_is_one_run
                a_resumed_run_must_exist
                a_closed_run_can_only_be_reported_again
                a_run_that_ended_early_is_opened_again
                a_run_of_another_target_is_refused
                a_silent_run_locks_then_is_abandoned_or_stuck
                a_stuck_run_is_closed_on_demand
                khoras_own_run_row_is_kept_true
            }
            leases {
                an_attempt_with_an_old_epoch_writes_nothing
                an_attempt_that_slept_past_its_lease_writes_nothing
                an_expired_lease_that_nobody_took_is_renewed
                a_lease_is_taken_for_open_runs_only
                a_parked_run_blocks_nobody_and_goes_on_later
                closing_twice_is_closing_once
                an_undo_takes_over_from_its_own_dead_attempt_only
                an_undo_waits_for_whoever_works
            }
            requests {
                of_two_that_exclude_each_other_the_second_loses
                of_many_at_once_one_side_wins
                a_word_that_nobody_waits_for_is_refused
                pause_and_cancel_bite_at_the_next_group
                the_kill_switch_bites_at_the_next_group
            }
            plans {
                drafts_of_an_attempt_that_was_given_up_count_for_nothing
                a_plan_that_is_written_twice_is_written_once
                ops_are_read_by_place_kind_and_state
                a_stretch_is_cut_between_clusters
                a_review_is_taken_while_the_run_waits_for_it
                an_audit_that_is_repeated_replaces_its_findings
                what_a_run_remembers_is_there_for_the_next
            }
            groups {
                a_merge_loses_nothing
                a_merge_leads_edges_over
                a_merge_leaves_its_trail
                temporal_edges_follow_a_merge
                a_survivor_gets_the_mean_of_its_members
                a_survivor_gets_the_vector_an_embedder_made
                dead_references_go_and_live_ones_stay
                what_ingestion_brought_back_is_led_over
                a_cluster_is_never_cut
                a_group_ends_where_it_is_told_to
                a_dependent_of_what_was_not_applied_is_skipped
                ops_of_one_group_see_each_other
            }
            refused {
                a_refused_row_leaves_everything_as_it_was
                the_op_at_fault_is_found_by_asking_for_fewer
            }
            stale {
                an_entity_that_changed_makes_an_op_stale
                vectors_that_no_longer_agree_make_an_op_stale
                a_row_that_ended_makes_an_op_stale
                an_alias_that_is_gone_makes_an_op_stale
                a_stale_op_does_not_end_the_run
            }
            undo {
                what_somebody_changed_since_is_listed_and_kept
                what_somebody_changed_since_is_overwritten_on_demand
                ids_that_others_added_since_survive
                looking_only_writes_nothing
                what_was_never_applied_is_nothing_to_take_back
                a_run_says_how_much_of_it_was_taken_back
                a_later_run_that_builds_on_it_is_named
                an_earlier_run_that_went_on_later_is_later
                the_history_of_a_row_is_told_newest_first
                what_an_op_did_is_remembered_after_it_was_taken_back
            }
            verdicts {
                a_person_is_not_overruled_by_a_run
                an_undone_merge_says_that_its_names_stay_two
                two_words_on_one_pair_in_one_group_are_one
            }
            names {
                what_ingestion_brings_back_resurfaces
                names_are_told_of_those_that_are_there
            }
            references {
                a_chunk_in_either_table_is_alive
                a_chunk_table_that_appears_later_is_seen
                a_chunk_of_another_namespace_is_dead
                references_are_told_row_by_row
            }
            snapshots {
                a_namespace_is_streamed_as_it_is
                a_range_of_ids_is_streamed_in_its_order
                what_a_migrated_store_left_null_has_a_meaning
                a_view_stays_the_same_while_somebody_writes
                vectors_come_as_they_were_written
                the_newest_recall_of_an_entity_is_known
            }
            transfer {
                what_is_exported_is_what_was_imported
                a_name_that_is_taken_is_left_out_or_numbered
                an_edge_without_its_ends_is_left_out
                ids_of_another_namespace_are_left_out_and_named
                a_vector_of_another_length_is_left_out
                chunks_are_imported_with_their_documents
            }
            sweep {
                old_runs_go_with_everything_they_left
                a_run_whose_outbox_waits_is_kept
            }
            mirror {
                a_namespace_has_one_drainer_at_a_time
                a_drainer_that_slept_past_its_lease_writes_nothing
                an_expired_drainer_that_nobody_followed_is_renewed
                rows_come_in_the_order_of_their_ops
                what_was_written_for_no_graph_is_listed_in_whatever_format
                a_batch_that_happened_is_closed_and_remembered_for_the_undo
                a_batch_that_did_not_happen_is_forgotten
                a_batch_that_is_kept_again_replaces_the_earlier_one
                nothing_is_kept_of_rows_that_do_not_wait
                a_row_that_failed_is_put_off_and_then_set_aside
                what_was_set_aside_is_released_or_dropped
                a_namespace_owes_what_is_open_and_what_is_set_aside
                a_run_that_built_on_an_edge_of_the_graph_is_named
                content_is_read_as_it_stands
                swept_runs_take_what_the_graph_held_along
                a_run_that_owes_the_graph_is_not_swept
            }
            adopt {
                what_khora_left_is_taken_over_once
                what_cannot_be_taken_over_stays_with_khora
                our_own_runs_leave_nothing_for_khora
                what_was_told_of_khoras_runs_goes_when_it_is_old
            }
            spaces {
                a_space_is_opened_by_its_keys_and_by_no_other
                rows_of_a_space_are_read_page_by_page_and_changed_one_by_one
                a_row_of_another_space_is_neither_seen_nor_touched
                actions_and_values_are_tidied_once
                a_round_is_sealed_behind_the_one_before
                what_an_answer_writes_is_written_and_taken_back
                a_protected_fact_is_touched_by_no_op
                a_question_that_waits_holds_nothing
                an_answer_is_taken_once
                of_many_answers_at_once_one_is_taken
                what_undo_needs_is_purged_when_it_is_old
            }
            minds {
                a_call_counts_by_what_it_may_take_and_then_by_what_it_took
                a_call_that_nobody_settled_goes_on_counting
                a_budget_that_is_spent_grants_no_call
                a_day_has_its_budget_and_the_next_one_another
                an_answer_is_kept_until_its_run_is_over
                an_answer_that_cannot_be_used_is_let_go
                an_answer_to_a_forgotten_question_is_not_kept
                forgetting_a_fact_reaches_kept_answers
                whoever_lost_the_space_reserves_and_settles_nothing
                what_is_kept_of_calls_is_purged_when_it_is_old
            }
            forget {
                forgetting_a_fact_reaches_every_copy
                what_dreams_made_of_a_forgotten_fact_goes_with_it
                what_was_merged_into_a_forgotten_fact_goes_with_it_and_what_others_say_too_stays
                a_wording_that_can_no_longer_be_taken_back_is_named
                what_was_forgotten_since_is_neither_asked_nor_sealed
                a_space_forgets_nothing_of_another_one
                an_op_whose_text_was_forgotten_is_skipped
            }
            canary {
                unreadable_content_is_named_and_never_told
                a_refused_write_tells_nothing
                unreadable_records_are_named_and_never_told
            }
            laws {
                applying_twice_equals_applying_once
                failing_before_commit_leaves_the_world_untouched
                crashing_between_commit_and_mirror_leaves_an_open_outbox_row
                undoing_twice_equals_undoing_once
                apply_then_undo_restores_every_byte
                every_spelling_comes_back
            }
        }
    };
}

macro_rules! behind_pointers {
    ($open:path; $($module:ident { $($name:ident)+ })+) => {
        $(pub mod $module {
            $(pub fn $name(kit: &dyn crate::kit::WorldKit) -> futures::future::LocalBoxFuture<'_, ()> {
                Box::pin(crate::$module::$name(kit))
            })+
        })+
    };
}

/// Every behaviour behind a pointer: so it is compiled here, once, and not in the binaries of the stores for each of their
/// kits, where that took minutes.
#[doc(hidden)]
pub mod behaviours {
    for_each_behaviour! { (behind_pointers), crate::behaviours }
}

/// Runs a test in a runtime of its own. The future is boxed, or else each test would bring a copy of the runtime's machinery.
///
/// # Panics
///
/// As the test does.
#[doc(hidden)]
pub fn run(test: futures::future::LocalBoxFuture<'_, ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test);
}

/// One test per behaviour. `open` is an async function that answers a fresh kit; the kit's `close` is called in the end.
#[macro_export]
macro_rules! store_suite {
    ($open:path) => {
        $crate::for_each_behaviour! { ($crate::__store_tests), $open }
    };
}

/// Used by [`store_suite!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __store_tests {
    ($open:path; $($module:ident { $($name:ident)+ })+) => {
        $(mod $module {
            $(#[test]
            fn $name() {
                $crate::run(Box::pin(async {
                    let kit = $open().await;
                    $crate::behaviours::$module::$name(&kit).await;
                    kit.close().await;
                }));
            })+
        })+
    };
}

#[cfg(test)]
mod tests {
    macro_rules! names {
        ($open:path; $($module:ident { $($name:ident)+ })+) => {
            [$((
                stringify!($module),
                include_str!(concat!(stringify!($module), ".rs")),
                &[$(stringify!($name)),+][..],
            )),+]
        };
    }

    #[test]
    fn every_behaviour_that_is_written_is_in_the_list() {
        for (module, source, listed) in crate::for_each_behaviour!((names), crate::begin) {
            let written: Vec<&str> = source
                .lines()
                .filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('(').map(|(name, _)| name))
                .collect();
            assert_eq!(written, listed, "{module}");
        }
    }
}
