//! What dedupe says about two names: the cases that other products got wrong, and the ones the promise names.

use crate::support::{World, at_cosine, axis, id, outcome};
use expect_test::{Expect, expect};

/// Plans two entities of one type without any context.
#[track_caller]
fn check(entity_type: &str, names: [&str; 2], expected: &Expect) {
    expected.assert_eq(&outcome(&World::of(entity_type, &names).plan()));
}

#[test]
fn spacing_case_and_diacritics_are_no_difference() {
    check("ORGANIZATION", ["OpenAI", "Open AI"], &expect!["merge: same_letters"]);
    check("ORGANIZATION", ["DGIA", "D.G.I.A."], &expect!["merge: same_letters"]);
    check("PERSON", ["José Núñez", "Jose Nunez"], &expect!["merge: same_letters"]);
    check("CONCEPT", ["R&D", "R & D"], &expect!["merge: same_letters"]);
    check("CONCEPT", ["R&D", "R and D"], &expect!["merge: same_letters"]);
    check("PLACE", ["Straße", "STRASSE"], &expect!["merge: same_letters"]);
}

#[test]
fn names_in_other_scripts_are_told_apart_by_their_letters() {
    check("PRODUCT", ["苹果", "香蕉"], &expect!["two: nothing alike"]);
    check("ORGANIZATION", ["北京 University", "上海 University"], &expect!["two: nothing alike"]);
    check("ORGANIZATION", ["서울대학교", "서울 대학교"], &expect!["merge: same_letters"]);
    check("ORGANIZATION", ["서울대학교", "부산대학교"], &expect!["two: nothing alike"]);
    check("ORGANIZATION", ["株式会社ソニー", "ソニー株式会社"], &expect!["merge: same_words"]);
    check("PERSON", ["Пётр Чайковский", "Петр Чайковский"], &expect!["merge: same_letters"]);
}

#[test]
fn a_name_that_folds_to_nothing_is_never_merged() {
    check("CONCEPT", ["!!!", "???"], &expect!["two: nothing alike"]);
    check("CONCEPT", ["🙂", "🙃"], &expect!["two: nothing alike"]);
}

#[test]
fn differing_numbers_and_versions_keep_two() {
    check("TECHNOLOGY", ["ASR1603", "ASR1605"], &expect!["two: different_numbers"]);
    check("EVENT", ["FIFA World Cup 2018", "FIFA World Cup 2022"], &expect!["two: different_numbers"]);
    check("EVENT", ["FIFA World Cup 2018", "2018 FIFA World Cup"], &expect!["merge: same_words"]);
    check("TECHNOLOGY", ["Kernel v1.2.3", "Kernel v1.2.4"], &expect!["two: different_numbers"]);
    check("TECHNOLOGY", ["Kernel v1.2.3", "kernel V1.2.3"], &expect!["merge: same_letters"]);
    check("EVENT", ["World War I", "World War II"], &expect!["two: generational_suffix"]);
    check("EVENT", ["World War II", "World War 2"], &expect!["merge: same_words"]);
    check("PRODUCT", ["iPhone", "iPhone 12"], &expect!["two: different_numbers"]);
}

#[test]
fn parents_are_not_their_children() {
    check("PERSON", ["John Smith", "John Smith Jr."], &expect!["two: generational_suffix"]);
    check("PERSON", ["John Smith Sr", "John Smith Jr"], &expect!["two: generational_suffix"]);
    check("PERSON", ["Henry Tudor", "Henry Tudor III"], &expect!["two: generational_suffix"]);
    check("PERSON", ["Henry Tudor II", "Henry Tudor III"], &expect!["two: generational_suffix"]);
}

#[test]
fn single_letters_and_signs_make_other_things() {
    check("BUILDING", ["Building A", "Building D"], &expect!["two: different_letter"]);
    check("TECHNOLOGY", ["C++", "C#"], &expect!["two: nothing alike"]);
    check("TECHNOLOGY", ["C", "C++"], &expect!["two: nothing alike"]);
    check("PRODUCT", ["Disney", "Disney+"], &expect!["two: nothing alike"]);
}

#[test]
fn legal_forms_are_no_difference_unless_they_belong_to_different_countries() {
    check("ORGANIZATION", ["Acme Rockets", "Acme Rockets, Inc."], &expect!["merge: same_words"]);
    check("ORGANIZATION", ["Acme Rockets Ltd", "Acme Rockets Inc"], &expect!["merge: same_words"]);
    check("ORGANIZATION", ["Acme Rockets GmbH & Co. KG", "Acme Rockets AG"], &expect!["merge: same_words"]);
    check("ORGANIZATION", ["Acme Rockets GmbH", "Acme Rockets S.p.A."], &expect!["two: different_legal_form"]);
    check("ORGANIZATION", ["ООО Газпром", "Газпром"], &expect!["merge: same_words"]);
    check("ORGANIZATION", ["IBM", "IBM Corp."], &expect!["merge: same_words"]);
}

#[test]
fn initials_and_acronyms_need_support() {
    check(
        "PERSON",
        ["Marie Skłodowska-Curie", "M. Curie"],
        &expect!["two: unsupported, shortened, a cosine or context is missing"],
    );
    check(
        "PERSON",
        ["John Smith", "J. Smith"],
        &expect!["two: unsupported, shortened, a cosine or context is missing"],
    );
    check("PERSON", ["Michael I. Jordan", "Michael Irwin Jordan"], &expect!["merge: middle_initial"]);
    check(
        "ORGANIZATION",
        ["IBM", "International Business Machines"],
        &expect!["two: unsupported, acronym, a cosine or context is missing"],
    );
    check("ORGANIZATION", ["United Biomedical Group", "UBI Group"], &expect!["two: nothing alike"]);
    check("ORGANIZATION", ["NATO", "North Atlantic Treaty Organisation"], &expect!["merge: only_expansion"]);
    check(
        "ORGANIZATION",
        ["World Health Organization (WHO)", "World Health Organisation"],
        &expect!["merge: same_words"],
    );
}

#[test]
fn one_slip_of_a_finger_in_a_long_word_is_no_difference() {
    check("ORGANIZATION", ["Microsoft", "Micrsoft"], &expect!["merge: one_slip"]);
    check("ORGANIZATION", ["Microsoft", "Micrrosoft"], &expect!["merge: one_slip"]);
    check("ORGANIZATION", ["Petrom", "Petron"], &expect!["two: unsupported, slip, a cosine or context is missing"]);
    check("ORGANIZATION", ["ING Bank", "ANG Bank"], &expect!["two: nothing alike"]);
    check("PERSON", ["Ann", "Anna"], &expect!["two: nothing alike"]);
}

#[test]
fn word_order_and_spelling_of_kind_are_no_difference() {
    check("ORGANIZATION", ["University of Salamanca", "Universidad de Salamanca"], &expect!["merge: same_words"]);
    check(
        "ORGANIZATION",
        ["Faculty of Law, Laval University", "Laval University, Faculty of Law"],
        &expect!["merge: same_words"],
    );
    check("PERSON", ["Curie, Marie", "Marie Curie"], &expect!["merge: same_words"]);
    check("ORGANIZATION", ["Volvo (United States)", "Volvo USA"], &expect!["merge: same_words"]);
}

#[test]
fn a_name_with_more_words_needs_the_vectors() {
    let world = World::of("ORGANIZATION", &["Hanna Barbera Cartoons", "Hanna Barbera"]);
    expect!["two: nothing alike"].assert_eq(&outcome(&world.plan()));
    let near = World::of("ORGANIZATION", &["Volvo Trucks", "Volvo Trucks Canada"]).vectors(&[axis(), at_cosine(0.97)]);
    expect!["two: unsupported, narrowed"].assert_eq(&outcome(&near.plan()));
}

#[test]
fn types_are_never_crossed() {
    let apple = World::default().entity("Apple", "ORGANIZATION").entity("Apple", "PERSON");
    expect!["two: different_type"].assert_eq(&outcome(&apple.vectors(&[axis(), axis()]).plan()));
}

#[test]
fn the_threshold_is_a_cosine_and_needs_names_that_speak() {
    let curie = World::of("PERSON", &["Marie Skłodowska-Curie", "M. Curie"]);
    expect!["merge: names_and_cosine"].assert_eq(&outcome(&curie.clone().vectors(&[axis(), at_cosine(0.95)]).plan()));
    expect!["two: unsupported, shortened, a cosine or context is missing"]
        .assert_eq(&outcome(&curie.clone().vectors(&[axis(), at_cosine(0.85)]).plan()));
    let mut lowered = curie.vectors(&[axis(), at_cosine(0.85)]);
    lowered.settings.per_type_thresholds.insert("PERSON".to_owned(), 0.80);
    expect!["merge: names_and_cosine"].assert_eq(&outcome(&lowered.plan()));
    let silent = World::of("PERSON", &["Marie Curie", "Pierre Joliot"]).vectors(&[axis(), at_cosine(0.99)]);
    expect!["two: names_silent, silent"].assert_eq(&outcome(&silent.plan()));
}

#[test]
fn a_neighbour_a_chunk_or_an_attribute_supports_initials() {
    let curie = || World::of("PERSON", &["Marie Skłodowska-Curie", "M. Curie"]).entity("Sorbonne", "PLACE");
    let neighbour = curie().edge(1, 3, "WORKED_AT").edge(2, 3, "WORKED_AT");
    expect!["merge: names_and_context"].assert_eq(&outcome(&neighbour.plan()));
    let co_occurrence = curie().edge(1, 3, "associated_with").edge(2, 3, "ASSOCIATED_WITH");
    expect!["two: unsupported, shortened, a cosine or context is missing"].assert_eq(&outcome(&co_occurrence.plan()));
    let chunk = curie().with(1, |row| row.chunks.push(id(100))).with(2, |row| row.chunks.push(id(100)));
    expect!["merge: names_and_context"].assert_eq(&outcome(&chunk.plan()));
    let born = || ("born".to_owned(), "1867".to_owned());
    let attribute = curie().with(1, |row| row.attributes.push(born())).with(2, |row| row.attributes.push(born()));
    expect!["merge: names_and_context"].assert_eq(&outcome(&attribute.plan()));
}

#[test]
fn an_edge_between_two_says_that_they_are_two_unless_the_letters_are_the_same() {
    let parent = World::of("ORGANIZATION", &["Skanska", "Skanska AB"]).edge(1, 2, "HAS_SUBSIDIARY");
    expect!["two: unsupported, same_words"].assert_eq(&outcome(&parent.plan()));
    let same = World::of("ORGANIZATION", &["Open AI", "OpenAI"]).edge(1, 2, "RELATES_TO");
    expect!["merge: same_letters"].assert_eq(&outcome(&same.plan()));
}

#[test]
fn large_disjoint_neighbourhoods_keep_two_and_small_ones_do_not() {
    let star = |leaves: usize, relationship_type: &str| {
        let mut world = World::of("PERSON", &["John Smith", "john smith"]);
        for leaf in 0..leaves * 2 {
            let owner = 1 + leaf / leaves;
            world = world.entity(&format!("Leaf {leaf}"), "PLACE").edge(owner, leaf + 3, relationship_type);
        }
        outcome(&world.plan())
    };
    expect!["two: disjoint_neighbourhoods"].assert_eq(&star(8, "LIVES_IN"));
    expect!["merge: same_letters"].assert_eq(&star(7, "LIVES_IN"));
    expect!["merge: same_letters"].assert_eq(&star(8, "ASSOCIATED_WITH"));
}

#[test]
fn contradicting_attributes_keep_two() {
    let attributes =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>();
    let grill = |left: &[(&str, &str)], right: &[(&str, &str)]| {
        let world = World::of("RESTAURANT", &["Palm Grill", "palm grill"]);
        let (left, right) = (attributes(left), attributes(right));
        outcome(&world.with(1, |row| row.attributes = left).with(2, |row| row.attributes = right).plan())
    };
    expect!["two: attributes_contradict"]
        .assert_eq(&grill(&[("city", "Paris"), ("street", "1 Rue A")], &[("city", "Rome"), ("street", "Via B")]));
    expect!["merge: same_letters"]
        .assert_eq(&grill(&[("city", "Paris"), ("street", "1 Rue A")], &[("city", "paris "), ("street", "Via B")]));
    expect!["merge: same_letters"].assert_eq(&grill(&[("city", "Paris")], &[("city", "Rome")]));
}

#[test]
fn vectors_of_different_models_are_not_compared() {
    let world =
        World::of("PERSON", &["John Smith", "J. Smith"]).vectors(&[axis(), axis()]).with(2, |row| row.model = "other");
    expect!["two: unsupported, shortened, a cosine or context is missing"].assert_eq(&outcome(&world.plan()));
}
