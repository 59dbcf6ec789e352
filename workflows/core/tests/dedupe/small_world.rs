//! A small made-up memory with known truth: the twin of the real sets, which always runs.

use dream_core::realm::graph::dedupe::eval::{EvalReport, LabelledRecord, evaluate};
use dream_core::realm::graph::dedupe::{Score, Veto};

use crate::support::World;

/// Type, true identity and name of each record. Strangers whose names fold alike, series, branches and families are
/// among them.
const RECORDS: &[(&str, &str, &str)] = &[
    ("ORGANIZATION", "openai", "OpenAI"),
    ("ORGANIZATION", "openai", "Open AI"),
    ("ORGANIZATION", "openai", "OpenAI, Inc."),
    ("ORGANIZATION", "openai", "openai"),
    ("ORGANIZATION", "curie-institute", "Curie Institute"),
    ("ORGANIZATION", "curie-institute", "Institut Curie"),
    ("ORGANIZATION", "curie-institute", "The Curie Institute"),
    ("ORGANIZATION", "bund", "Umweltbund Nord e.V."),
    ("ORGANIZATION", "bund", "Umweltbund Nord"),
    ("ORGANIZATION", "orbit-de", "Orbit Antriebe GmbH"),
    ("ORGANIZATION", "orbit-it", "Orbit Antriebe S.p.A."),
    ("ORGANIZATION", "helio", "Heliostat Energy Partners Ltd"),
    ("ORGANIZATION", "helio", "Heliostat Energy Partners"),
    ("ORGANIZATION", "helio", "Heliostat Enrgy Partners"),
    ("ORGANIZATION", "helio-us", "Heliostat Energy Partners (USA)"),
    ("ORGANIZATION", "nasa", "NASA"),
    ("ORGANIZATION", "nasa", "National Aeronautics and Space Administration"),
    ("ORGANIZATION", "sony", "株式会社ソニー"),
    ("ORGANIZATION", "sony", "ソニー"),
    ("ORGANIZATION", "beijing", "北京 University"),
    ("ORGANIZATION", "shanghai", "上海 University"),
    ("PERSON", "smith", "John Smith"),
    ("PERSON", "smith", "john smith"),
    ("PERSON", "smith-junior", "John Smith Jr."),
    ("PERSON", "curie", "Marie Skłodowska-Curie"),
    ("PERSON", "curie", "Marie Sklodowska Curie"),
    ("PERSON", "trump", "President Donald J. Trump"),
    ("PERSON", "trump", "Donald John Trump"),
    ("PERSON", "apple-person", "Apple"),
    ("PRODUCT", "apple", "苹果"),
    ("PRODUCT", "banana", "香蕉"),
    ("PRODUCT", "asr1603", "ASR1603"),
    ("PRODUCT", "asr1605", "ASR1605"),
    ("PRODUCT", "cpp", "C++"),
    ("PRODUCT", "csharp", "C#"),
    ("PRODUCT", "kernel-3", "Kernel v1.2.3"),
    ("PRODUCT", "kernel-3", "kernel V 1.2.3"),
    ("PRODUCT", "kernel-4", "Kernel v1.2.4"),
    ("EVENT", "cup-2018", "FIFA World Cup 2018"),
    ("EVENT", "cup-2018", "2018 FIFA World Cup"),
    ("EVENT", "cup-2022", "FIFA World Cup 2022"),
    ("CONCEPT", "research", "R&D"),
    ("CONCEPT", "research", "R & D"),
];

fn world() -> World {
    RECORDS.iter().fold(World::default(), |world, (entity_type, _, name)| world.entity(name, entity_type))
}

fn measured(world: &World) -> EvalReport {
    let records: Vec<LabelledRecord<'_>> = world
        .rows
        .iter()
        .zip(RECORDS)
        .map(|(row, (_, label, name))| LabelledRecord { id: row.id, name, label })
        .collect();
    evaluate(&records, &world.plan())
}

#[test]
fn names_alone_find_nearly_all_and_spare_all() {
    let report = measured(&world());
    assert!(report.reaches(Score(10_000), Score(9_500)), "{report:?}");
}

#[test]
fn what_keeps_two_is_said_for_each_trap() {
    let plan = world().plan();
    let vetoes: Vec<Veto> = plan.kept_apart.iter().flat_map(|kept| kept.evidence.vetoes.clone()).collect();
    for veto in [Veto::GenerationalSuffix, Veto::DifferentNumbers, Veto::DifferentLegalForm] {
        assert!(vetoes.contains(&veto), "{veto:?} is not said");
    }
}
