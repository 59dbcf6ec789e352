//! Laws that hold for every world: the order of feeding means nothing, vetoes hold in clusters, scope and verdicts hold.

use std::collections::BTreeSet;

use crate::support::{Row, World, at_cosine, axis, clusters, id, kept_apart};
use dream_core::realm::graph::dedupe::{
    Claim, CollisionKind, CosineEvidence, DedupeError, DedupePlan, DedupePlanner, DedupeSettings, EmbeddingState,
    EntityInput, KeptApartReason, NotScored, Rule, Score, Veto,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use uuid::Uuid;

/// Words that make names alike in every way that the rule knows.
const WORDS: [&str; 12] =
    ["Acme", "acme", "Acmee", "Rocket", "Rockets", "Inc.", "GmbH", "S.p.A.", "II", "2019", "J.", "John"];
const TYPES: [&str; 2] = ["ORGANIZATION", "PERSON"];

fn any_row() -> impl Strategy<Value = Row> {
    let name = prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4);
    let vector = prop::option::of((-1.0_f32..1.0).prop_map(at_cosine));
    (name, prop::sample::select(&TYPES[..]), 0_i64..3, vector, 0_u128..6, any::<bool>()).prop_map(
        |(words, entity_type, mentions, vector, chunk, in_scope)| Row {
            id: Uuid::nil(),
            name: words.join(" "),
            entity_type: entity_type.to_owned(),
            mentions,
            created_at_us: mentions,
            vector,
            model: "model",
            attributes: Vec::new(),
            chunks: vec![Uuid::from_u128(1_000 + chunk)],
            in_scope: in_scope || mentions > 0,
            verdict_key: None,
        },
    )
}

/// Up to 24 rows with ids that say nothing about their order, and a few edges.
fn any_world() -> impl Strategy<Value = World> {
    let rows = prop::collection::vec(any_row(), 2..24);
    (rows, prop::collection::vec((0_usize..24, 0_usize..24, any::<bool>()), 0..30)).prop_map(|(mut rows, links)| {
        for (number, row) in rows.iter_mut().enumerate() {
            row.id = Uuid::from_u128((number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
            row.verdict_key = Some(row.id.into_bytes());
        }
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let edges = links.iter().map(|(source, target, strong)| {
            let relationship_type = if *strong { "KNOWS" } else { "ASSOCIATED_WITH" };
            (ids[source % ids.len()], ids[target % ids.len()], relationship_type.to_owned())
        });
        World { edges: edges.collect(), rows, ..World::default() }
    })
}

/// The same world, fed in another order.
fn shuffled(world: &World, seed: usize) -> World {
    let mut other = world.clone();
    let rows = other.rows.len();
    other.rows.rotate_left(seed % rows);
    other.rows.reverse();
    other.edges.reverse();
    other
}

/// The same worlds in every run: a law that fails here fails for everyone.
fn seeded() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn the_order_of_rows_edges_and_vectors_changes_nothing(world in any_world(), seed in 0_usize..24) {
        prop_assert_eq!(world.plan(), shuffled(&world, seed).plan());
    }

    #[test]
    fn the_number_of_threads_changes_nothing(world in any_world()) {
        let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| world.plan());
        prop_assert_eq!(on(1), on(3));
    }

    #[test]
    fn every_entity_is_in_at_most_one_cluster_and_every_cluster_has_one_type(world in any_world()) {
        let plan = world.plan();
        let mut seen = BTreeSet::new();
        for merge in &plan.merges {
            for member in merge.absorb.iter().chain([&merge.keep]) {
                prop_assert!(seen.insert(*member));
                let row = world.rows.iter().find(|row| row.id == *member).unwrap();
                prop_assert_eq!(&row.entity_type, &merge.entity_type);
            }
        }
    }

    #[test]
    fn no_cluster_holds_a_vetoed_pair(world in any_world()) {
        let plan = world.plan();
        for (left, right) in merged_pairs(&plan) {
            let two = two_of(&world, left, right).plan();
            let vetoed = two.kept_apart.iter().any(|kept| kept.reason == KeptApartReason::Vetoed);
            prop_assert!(!vetoed, "{left} and {right} are in one cluster");
        }
    }

    #[test]
    fn a_verdict_is_respected_whatever_speaks_against_it(world in any_world()) {
        let Some((left, right)) = merged_pairs(&world.plan()).into_iter().next() else { return Ok(()) };
        let mut judged = world.clone();
        judged.verdicts.push((right.into_bytes(), left.into_bytes()));
        prop_assert!(!merged_pairs(&judged.plan()).contains(&(left, right)));
    }

    #[test]
    fn what_is_out_of_scope_is_neither_kept_nor_absorbed(world in any_world()) {
        for merge in world.plan().merges {
            for member in merge.absorb.iter().chain([&merge.keep]) {
                prop_assert!(world.rows.iter().any(|row| row.id == *member && row.in_scope));
            }
        }
    }

    #[test]
    fn the_survivor_is_the_most_mentioned_then_the_oldest_then_the_smallest(world in any_world()) {
        for merge in world.plan().merges {
            let order = |id: Uuid| {
                let row = world.rows.iter().find(|row| row.id == id).unwrap();
                (-row.mentions, row.created_at_us, row.id)
            };
            prop_assert!(merge.absorb.iter().all(|absorbed| order(merge.keep) < order(*absorbed)));
            prop_assert!(merge.absorb.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn a_plan_survives_its_own_spelling(world in any_world()) {
        let plan = world.plan();
        let spelled = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<DedupePlan>(&spelled).unwrap(), plan);
    }

    #[test]
    fn merging_what_was_planned_leaves_nothing_to_merge(world in any_world()) {
        let plan = world.plan();
        let gone: BTreeSet<Uuid> = plan.merges.iter().flat_map(|merge| merge.absorb.iter().copied()).collect();
        let mut next = world.clone();
        next.rows.retain(|row| !gone.contains(&row.id));
        next.edges.clear();
        prop_assert!(next.plan().merges.len() <= world.rows.len() - gone.len());
    }
}

/// All pairs of ids that end in one cluster, the smaller first.
fn merged_pairs(plan: &DedupePlan) -> BTreeSet<(Uuid, Uuid)> {
    let mut pairs = BTreeSet::new();
    for merge in &plan.merges {
        let members: BTreeSet<Uuid> = merge.absorb.iter().copied().chain([merge.keep]).collect();
        for left in &members {
            pairs.extend(members.range(left..).skip(1).map(|right| (*left, *right)));
        }
    }
    pairs
}

/// Two entities of a world, alone.
fn two_of(world: &World, left: Uuid, right: Uuid) -> World {
    let mut two = world.clone();
    two.rows.retain(|row| row.id == left || row.id == right);
    two.edges.retain(|(source, target, _)| [left, right].contains(source) && [left, right].contains(target));
    two
}

#[test]
fn a_chain_whose_ends_disagree_is_reported_and_not_merged() {
    let plan = World::of("PRODUCT", &["Kaleidoscope", "Kaleidscope", "Kaleidscpe", "Kalidscpe"]).plan();
    assert_eq!(clusters(&plan), Vec::<Vec<u128>>::new());
    assert_eq!(kept_apart(&plan, KeptApartReason::ClusterDisagrees), vec![(1, 2), (2, 3), (3, 4)]);
}

#[test]
fn a_name_between_two_that_disagree_joins_neither_and_the_others_still_merge() {
    let names = ["Orbit Works AG", "Orbit Works Aktiengesellschaft", "Orbit Works", "Orbit Works S.p.A."];
    let plan = World::of("ORGANIZATION", &names).plan();
    assert_eq!(clusters(&plan), vec![vec![1, 2]]);
}

#[test]
fn a_pair_that_others_bring_together_is_not_kept_apart() {
    let world = World::of("PERSON", &["Marie Curie", "MARIE CURIE", "M. Curie"])
        .entity("Sorbonne", "PLACE")
        .edge(2, 4, "WORKED_AT")
        .edge(3, 4, "WORKED_AT");
    let plan = world.plan();
    let left_apart: Vec<_> = plan.kept_apart.iter().map(|kept| (kept.evidence.left, kept.evidence.right)).collect();
    assert_eq!((clusters(&plan), left_apart), (vec![vec![1, 2, 3]], Vec::new()));
}

#[test]
fn four_spellings_of_one_acronym_merge_though_their_vectors_are_far_apart() {
    let names = ["DGIA", "dgia", "D.G.I.A.", "Dgia"];
    let far = [axis(), at_cosine(0.3), at_cosine(-0.2), at_cosine(0.5)];
    let plan = World::of("ORGANIZATION", &names).vectors(&far).plan();
    assert_eq!(clusters(&plan), vec![vec![1, 2, 3, 4]]);
    assert!(!plan.merges[0].every_pair_reached_cosine_threshold);
}

#[test]
fn vectors_without_direction_are_not_scored_and_names_still_decide() {
    for broken in [vec![0.0; 4], vec![f32::NAN; 4], vec![f32::INFINITY; 4]] {
        let plan = World::of("ORGANIZATION", &["OpenAI", "Open AI"]).vectors(&[broken, axis()]).plan();
        assert_eq!(clusters(&plan), vec![vec![1, 2]]);
        let pair = &plan.merges[0].pairs[0];
        assert_eq!((pair.rule, pair.cosine), (Rule::SameLetters, CosineEvidence::NotScored(NotScored::NoDirection)));
        assert_eq!(plan.counts.vectors_without_direction, 1);
    }
}

#[test]
fn a_pair_that_only_vectors_propose_stays_two() {
    let plan = World::of("PERSON", &["Marie Curie", "Pierre Joliot"]).vectors(&[axis(), axis()]).plan();
    assert_eq!(kept_apart(&plan, KeptApartReason::NamesSilent), vec![(1, 2)]);
}

#[test]
fn names_that_fold_to_nothing_stay_two_even_with_equal_vectors() {
    let plan = World::of("CONCEPT", &["🙂", "🙃"]).vectors(&[axis(), axis()]).plan();
    assert_eq!(plan.kept_apart[0].evidence.vetoes, vec![Veto::FoldsToNothing]);
    assert_eq!(plan.counts.names_folding_to_nothing, 2);
}

#[test]
fn the_threshold_counts_as_reached_when_it_is_met_exactly() {
    let at = |cosine| World::of("PERSON", &["John Smith", "J. Smith"]).vectors(&[axis(), at_cosine(cosine)]).plan();
    assert!(at(0.90).merges[0].every_pair_reached_cosine_threshold);
    assert_eq!(at(0.90).merges[0].pairs[0].cosine, CosineEvidence::Scored(Score(9_000)));
    assert!(at(0.8998).merges.is_empty());
}

#[test]
fn a_keep_apart_verdict_outweighs_the_same_letters() {
    let mut world = World::of("ORGANIZATION", &["OpenAI", "Open AI"]);
    for (number, row) in world.rows.iter_mut().enumerate() {
        row.verdict_key = Some([u8::try_from(number).unwrap(); 16]);
    }
    world.verdicts.push(([1; 16], [0; 16]));
    let plan = world.plan();
    assert_eq!(plan.kept_apart[0].evidence.vetoes, vec![Veto::VerdictKeepApart]);
}

#[test]
fn a_row_that_is_being_reabsorbed_is_left_alone() {
    let mut world = World::of("ORGANIZATION", &["OpenAI", "Open AI"]);
    world.claims.push((id(2), Claim::Absorbed));
    assert_eq!(kept_apart(&world.plan(), KeptApartReason::Claimed), vec![(1, 2)]);
}

#[test]
fn a_canonical_that_already_absorbs_others_is_a_collision() {
    let mut world = World::of("ORGANIZATION", &["OpenAI", "Open AI"]);
    world.claims.push((id(1), Claim::Canonical));
    let plan = world.plan();
    assert!(plan.merges.is_empty());
    assert_eq!((plan.collisions[0].kind, plan.collisions[0].with), (CollisionKind::SkipCollision, id(1)));
}

#[test]
fn a_stranger_that_owns_the_survivors_name_is_a_collision() {
    let world = World::of("ORGANIZATION", &["Open AI", "OpenAI", "Open AI"]).with(3, |row| row.in_scope = false);
    let plan = world.plan();
    assert!(plan.merges.is_empty());
    assert_eq!((plan.collisions[0].kind, plan.collisions[0].with), (CollisionKind::SkipUniqueCollision, id(3)));
}

#[test]
fn what_is_out_of_scope_is_looked_at_and_reported() {
    let world = World::of("ORGANIZATION", &["OpenAI", "Open AI"]).with(2, |row| row.in_scope = false);
    assert_eq!(kept_apart(&world.plan(), KeptApartReason::OutOfScope), vec![(1, 2)]);
}

#[test]
fn the_list_of_kept_pairs_is_bounded_and_the_rest_is_counted() {
    let names: Vec<String> = (0..6).map(|number| format!("Kernel {number}")).collect();
    let mut world = World::of("TECHNOLOGY", &names.iter().map(String::as_str).collect::<Vec<_>>());
    world.settings.kept_apart_listed_max = 4;
    let plan = world.plan();
    assert_eq!(plan.kept_apart.len(), 4);
    assert_eq!(plan.kept_apart_unlisted.get(&KeptApartReason::Vetoed), Some(&11));
}

#[test]
fn an_oversized_block_is_reported() {
    let names: Vec<String> = (0..100).map(|number| format!("Sector {number}")).collect();
    let plan = World::of("PLACE", &names.iter().map(String::as_str).collect::<Vec<_>>()).plan();
    assert!(plan.blocks.families.iter().any(|family| family.blocks_sampled > 0 && family.sampled_sizes == vec![100]));
    assert!(plan.merges.is_empty());
}

#[test]
fn a_row_that_is_fed_twice_is_an_error() {
    let mut planner = DedupePlanner::new(DedupeSettings::default());
    let row = EntityInput {
        id: id(1),
        name: "Twice",
        entity_type: "PLACE",
        mention_count: 1,
        created_at_us: 0,
        embedding: EmbeddingState::Absent,
        attributes: &[],
        source_chunk_ids: &[],
        in_scope: true,
        verdict_key: None,
    };
    planner.feed_entity(&row);
    planner.feed_entity(&row);
    assert!(matches!(planner.propose(), Err(DedupeError::FedTwice { .. })));
}

#[test]
fn an_empty_namespace_has_an_empty_plan() {
    let plan = World::default().plan();
    assert!(plan.merges.is_empty() && plan.kept_apart.is_empty());
}
