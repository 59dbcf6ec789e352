//! Answers by hand, each against the rule that it tries.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use uuid::Uuid;

use super::super::changes::{CHANGES_MAX, Change};
use super::super::fact::Fact;
use super::super::judge::{LISTED_MAX, Recorded, World, judge, proposal_fingerprint};
use super::world::{KEY, answer, facts, job, judged_since, told};

#[track_caller]
fn check(lines: &[&str], json: &str, expected: &Expect) {
    let facts = facts(lines);
    let (job, judged) = judged_since(&facts, &facts, &answer(json));
    expected.assert_eq(&told(&job, &judged));
}

/// The job is cut, then the facts are edited, then the answer comes.
#[track_caller]
fn check_since(lines: &[&str], edit: impl Fn(&mut Vec<Fact>), json: &str, expected: &Expect) {
    let then = facts(lines);
    let mut now = then.clone();
    edit(&mut now);
    let (job, judged) = judged_since(&then, &now, &answer(json));
    expected.assert_eq(&told(&job, &judged));
}

const TEAS: &[&str] = &["likes tea", "enjoys tea", "drinks tea", "is fond of tea", "loves tea"];

#[test]
fn a_good_answer_is_done_in_order() {
    check(
        TEAS,
        r#"{"contradictions": [{"fact_ids": ["f4", "f5"], "note": "Not both."}],
            "proposals": [{"title": "Buy a kettle", "fact_ids": ["f4"]}],
            "profile": "Drinks tea.", "weekly_digest": "Tea, every day.",
            "promotions": [{"fact_id": "f1", "tier": "core"}],
            "merges": [{"keep_id": "f1", "remove_ids": ["f2", "f3"], "wording": "likes and enjoys tea"}]}"#,
        &expect![[r"
            merge f1 f2 f3, reworded
            promote f1 from long to core
            digest of 2026-11-23
            profile
            propose open_loop f4
            contradiction f4 f5"]],
    );
}

#[test]
fn an_answer_that_suggests_nothing_changes_nothing() {
    check(TEAS, r#"{"merges": [], "profile": null}"#, &expect![[r""]]);
}

#[test]
fn only_facts_of_the_job_can_be_named() {
    check(
        TEAS,
        r#"{"merges": [{"keep_id": "f9", "remove_ids": ["f1"]}, {"keep_id": "f1", "remove_ids": ["f2", "00000000-0000-0000-0000-000000000003"]}],
            "promotions": [{"fact_id": "f0", "tier": "core"}],
            "proposals": [{"title": "x", "fact_ids": ["f6"]}],
            "contradictions": [{"fact_ids": ["f1", "f6"], "note": "x"}]}"#,
        &expect![[r"
            - merges[0] unknown_id f1
            - merges[1] unknown_id f1 f2
            - promotions[0] unknown_id
            - proposals[0] unknown_id
            - contradictions[0] unknown_id f1"]],
    );
}

#[test]
fn a_merge_that_makes_no_sense_is_refused_by_the_rule_s_name() {
    check(
        TEAS,
        r#"{"merges": [
            {"keep_id": "f1", "remove_ids": ["f1", "f2"]},
            {"keep_id": "f1", "remove_ids": ["f2"], "wording": " \n"},
            {"keep_id": "f1", "remove_ids": []},
            {"keep_id": "f1", "remove_ids": ["f2"], "wording": "likes\u0000tea"},
            {"keep_id": "f1", "remove_ids": ["f2", "f2"]},
            {"keep_id": "f2", "remove_ids": ["f3"]},
            {"keep_id": "f1", "remove_ids": ["f3"]},
            {"keep_id": "f3", "remove_ids": ["f1", "f2", "f4"]},
            {"keep_id": "f5", "remove_ids": ["f2"]}]}"#,
        &expect![[r"
            merge f1 f2
            merge f3 f4
            - merges[0] keep_in_remove f1
            - merges[1] empty_wording f1
            - merges[2] nothing_to_remove f1
            - merges[3] control_characters f1
            - merges[4] repeated_id f2
            - merges[5] merge_into_removed f2
            - merges[6] used_by_earlier_merge f1
            - merges[7] used_by_earlier_merge f1
            - merges[7] used_by_earlier_merge f2
            - merges[8] used_by_earlier_merge f2
            - merges[8] nothing_to_remove f5"]],
    );
}

#[test]
fn protected_facts_are_kept_and_promoted_and_nothing_else() {
    check(
        &["user: likes tea", "pinned: enjoys tea", "drinks tea", "user core: is fond of tea", "pinned: loves tea"],
        r#"{"merges": [
            {"keep_id": "f4", "remove_ids": ["f1", "f2"], "wording": "tea"},
            {"keep_id": "f4", "remove_ids": ["f1"]},
            {"keep_id": "f1", "remove_ids": ["f4", "f2"], "wording": "likes drinking tea"}],
            "promotions": [
            {"fact_id": "f1", "tier": "scratch"}, {"fact_id": "f2", "tier": "core"}, {"fact_id": "f3", "tier": "scratch"},
            {"fact_id": "f3", "tier": "core"}]}"#,
        &expect![[r"
            merge f1 f4
            promote f2 from long to core
            promote f3 from long to core
            - merges[0] protected_fact f1
            - merges[0] protected_fact f2
            - merges[0] nothing_to_remove f4
            - merges[1] protected_fact f1
            - merges[1] nothing_to_remove f4
            - merges[2] protected_fact f2
            - merges[2] protected_wording f1
            - promotions[0] protected_tier f1
            - promotions[2] protected_tier f3"]],
    );
}

#[test]
fn what_somebody_changed_in_between_is_left_alone() {
    check_since(
        TEAS,
        |facts| {
            facts[0].text = "likes coffee".into();
            facts[1].pinned = true;
            facts.remove(2);
        },
        r#"{"merges": [{"keep_id": "f1", "remove_ids": ["f4"]}, {"keep_id": "f5", "remove_ids": ["f2", "f3", "f4"]}],
            "promotions": [{"fact_id": "f2", "tier": "core"}],
            "proposals": [{"title": "x", "fact_ids": ["f1"]}],
            "contradictions": [{"fact_ids": ["f1", "f5"], "note": "x"}]}"#,
        &expect![[r"
            merge f5 f4
            propose open_loop
            - merges[0] changed_since_job f1
            - merges[1] pinned_since_job f2
            - merges[1] forgotten_since_job f3
            - promotions[0] pinned_since_job f2
            - proposals[0] changed_since_job f1
            - contradictions[0] changed_since_job f1
            - contradictions[0] too_few_facts f5"]],
    );
}

#[test]
fn a_merge_that_would_lose_something_becomes_a_proposal_in_its_turn() {
    check(
        &["likes tea", "likes tea at 5", "met Ada", "never eats meat", "eats meat", "met"],
        r#"{"proposals": [{"title": "open"}], "profile": "Likes tea.",
            "merges": [{"keep_id": "f1", "remove_ids": ["f2"]}, {"keep_id": "f6", "remove_ids": ["f3"], "wording": "met her for tea"},
            {"keep_id": "f4", "remove_ids": ["f5"]}, {"keep_id": "f2", "remove_ids": ["f1"]}]}"#,
        &expect![[r"
            profile
            propose merge f1 f2 (loses_number)
            propose merge f6 f3 (loses_name)
            propose merge f4 f5 (negation_differs)
            propose open_loop
            - merges[0] loses_number f1 f2
            - merges[1] loses_name f6 f3
            - merges[2] negation_differs f4 f5
            - merges[3] used_by_earlier_merge f2"]],
    );
}

#[test]
fn a_moved_fact_may_still_be_named_and_a_removed_one_not() {
    check(
        TEAS,
        r#"{"merges": [{"keep_id": "f1", "remove_ids": ["f2"]}],
            "promotions": [{"fact_id": "f2", "tier": "core"}, {"fact_id": "f1", "tier": "core"}, {"fact_id": "f1", "tier": "scratch"},
            {"fact_id": "f3", "tier": "long"}],
            "contradictions": [{"fact_ids": ["f1", "f3"], "note": "x"}, {"fact_ids": ["f3", "f1", "f1"], "note": "again"},
            {"fact_ids": ["f2", "f4"], "note": "x"}, {"fact_ids": ["f4", "f5"], "note": ""}, {"fact_ids": [], "note": "x"}]}"#,
        &expect![[r"
            merge f1 f2
            promote f1 from long to core
            contradiction f1 f3
            - promotions[0] removed_by_merge f2
            - promotions[2] promoted_before f1
            - promotions[3] same_tier f3
            - contradictions[1] repeated_id f1
            - contradictions[1] already_recorded f1 f3
            - contradictions[2] removed_by_merge f2
            - contradictions[2] too_few_facts f4
            - contradictions[3] empty_text
            - contradictions[4] too_few_facts"]],
    );
}

#[test]
fn texts_that_cannot_be_stored_are_refused_and_a_long_profile_is_cut() {
    let long = "x".repeat(8_001);
    let json = format!(
        r#"{{"weekly_digest": "{long}", "profile": "{}",
            "proposals": [{{"title": "…"}}, {{"title": "Call", "detail": "{long}"}}, {{"title": "Call"}}, {{"title": " CALL"}}]}}"#,
        "tea ".repeat(500),
    );
    check(
        TEAS,
        &json,
        &expect![[r"
        profile, cut
        propose open_loop
        - weekly_digest text_too_long
        - proposals[0] empty_text
        - proposals[1] text_too_long
        - proposals[3] already_recorded"]],
    );
    check(
        TEAS,
        r#"{"weekly_digest": "", "profile": " "}"#,
        &expect![[r"
        - weekly_digest empty_text
        - profile empty_text"]],
    );
}

#[test]
fn what_is_recorded_is_not_recorded_every_night() {
    let facts = facts(TEAS);
    let job = job(&facts);
    let recorded = Recorded {
        contradictions: [vec![Uuid::from_u128(1), Uuid::from_u128(2)]].into(),
        proposals: [proposal_fingerprint(&KEY, "Buy a kettle")].into(),
    };
    let answer = answer(
        r#"{"proposals": [{"title": "buy  a kettle"}], "contradictions": [{"fact_ids": ["f2", "f1"], "note": "x"}]}"#,
    );
    let judged = judge(&answer, World { ticket: &job.ticket, facts: &facts, recorded: &recorded, key: &KEY });
    expect![[r"
        - proposals[0] already_recorded
        - contradictions[0] already_recorded f1 f2"]]
    .assert_eq(&told(&job, &judged));
}

#[test]
fn a_change_that_does_not_fit_is_skipped_whole_and_a_smaller_one_still_tried() {
    let lines: Vec<String> = (0..120).map(|_| "likes tea".to_owned()).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let merge = |keep: usize, from: usize, count: usize| {
        let ids: Vec<String> = (from..from + count).map(|id| format!("\"f{id}\"")).collect();
        format!(r#"{{"keep_id": "f{keep}", "remove_ids": [{}]}}"#, ids.join(","))
    };
    let merges = [merge(1, 2, 40), merge(50, 51, 11), merge(70, 71, 9), merge(90, 91, 2)].join(",");
    let json =
        format!(r#"{{"merges": [{merges}], "promotions": [{{"fact_id": "f51", "tier": "core"}}], "profile": "Tea."}}"#);
    let facts = facts(&lines);
    let (_, judged) = judged_since(&facts, &facts, &answer(&json));
    assert_eq!(judged.cost(), CHANGES_MAX);
    let skipped: Vec<String> = judged.listed.iter().map(|line| format!("{} {}", line.item, line.rule)).collect();
    assert_eq!(skipped, ["merges[1] over_limit", "merges[3] over_limit", "profile over_limit"]);
    let Change::Promote { fact, .. } = &judged.changes[2] else { panic!("{:?}", judged.changes) };
    assert_eq!(fact.fact, Uuid::from_u128(51), "a merge that was skipped has used no id");
}

#[test]
fn a_merge_that_does_not_fit_is_skipped_and_not_proposed() {
    let mut lines = vec!["likes tea at 5"; 60];
    lines[0] = "likes tea";
    let ids: Vec<String> = (2..=60).map(|id| format!("\"f{id}\"")).collect();
    let json = format!(r#"{{"merges": [{{"keep_id": "f1", "remove_ids": [{}]}}]}}"#, ids.join(","));
    let facts = facts(&lines);
    let (_, judged) = judged_since(&facts, &facts, &answer(&json));
    assert_eq!((judged.changes.len(), judged.listed.len()), (0, 1));
    assert_eq!(judged.listed[0].rule.as_str(), "over_limit");
}

#[test]
fn an_answer_of_twenty_thousand_items_is_judged_and_its_list_bounded() {
    let mut json = r#"{"promotions": ["#.to_owned();
    for id in 0..20_000 {
        write!(json, r#"{{"fact_id": "f{id}", "tier": "core"}},"#).unwrap();
    }
    json.pop();
    json.push_str("]}");
    let facts = facts(TEAS);
    let (_, judged) = judged_since(&facts, &facts, &answer(&json));
    assert_eq!((judged.changes.len(), judged.listed.len()), (TEAS.len(), LISTED_MAX));
    assert_eq!(judged.unlisted as usize, 20_000 - TEAS.len() - LISTED_MAX);
}

#[test]
fn an_admitted_change_is_asked_again_of_the_locked_rows() {
    let facts = facts(TEAS);
    let json = r#"{"merges": [{"keep_id": "f1", "remove_ids": ["f2"], "wording": "likes and enjoys tea"}],
                   "promotions": [{"fact_id": "f1", "tier": "core"}]}"#;
    let (_, judged) = judged_since(&facts, &facts, &answer(json));
    let [merge, promote] = &judged.changes[..] else { panic!("{:?}", judged.changes) };
    assert_eq!(merge.still_holds(&facts, &KEY), Ok(()));
    let reworded = [Fact { text: "likes and enjoys tea".into(), ..facts[0].clone() }];
    assert_eq!(promote.still_holds(&reworded, &KEY), Ok(()), "the merge before it has been applied");
    assert_eq!(promote.still_holds(&facts, &KEY), Ok(()), "the merge before it was left alone");
    for (edited, rule) in [
        (vec![facts[0].clone()], "forgotten_since_job"),
        (vec![facts[0].clone(), Fact { pinned: true, ..facts[1].clone() }], "pinned_since_job"),
        (vec![Fact { text: "likes coffee".into(), ..facts[0].clone() }, facts[1].clone()], "changed_since_job"),
    ] {
        assert_eq!(merge.still_holds(&edited, &KEY).unwrap_err().rule.as_str(), rule);
    }
}

#[test]
fn what_is_judged_holds_no_memory_text() {
    let facts = facts(&["likes Quokkas", "enjoys Quokkas", "user: met 3 Quokkas"]);
    let json = r#"{"merges": [{"keep_id": "f1", "remove_ids": ["f2", "f3"], "wording": "likes and enjoys Quokkas"}],
        "profile": "Quokkas.", "proposals": [{"title": "Quokka"}, {"title": "Quokka"}],
        "contradictions": [{"fact_ids": ["f1", "f3"], "note": "Quokka"}, {"fact_ids": ["Quokka"], "note": "Quokka"}]}"#;
    let (job, judged) = judged_since(&facts, &facts, &answer(json));
    let stored =
        [serde_json::to_string(&judged).unwrap(), serde_json::to_string(&job.ticket).unwrap(), format!("{judged:?}")];
    for stored in stored {
        assert!(!stored.to_lowercase().contains("quokka"), "{stored}");
    }
    let back: super::super::changes::Judged = serde_json::from_str(&serde_json::to_string(&judged).unwrap()).unwrap();
    assert_eq!(back, judged);
}
