//! Ops that a drainer tells, and takes back.

use dream_core::mirror::Verb;
use uuid::Uuid;

use crate::kit::{Kit, kit};

/// Every type of property that the server stores, and odd spellings of what Khora keeps.
const ODD: &str = "{
    description: 'it said \"so\"; `x` \\u2603', properties: '{\"a\": 1.50}', weight: 1, confidence: 0.25,
    valid_from: datetime('2026-01-01T00:00:00.123456789+02:00'),
    valid_until: datetime('2126-07-01T00:00:00[Europe/Berlin]'),
    created_at: '2026-01-01T00:00:00Z', updated_at: datetime('2026-01-01T00:00:00Z'),
    source_chunk_ids: ['018F6C3E-0000-7000-8000-000000000001'], source_document_ids: [],
    metadata: '{}', truth: true, big: 9223372036854775807, minus: -0.0, endless: 1.0 / 0.0, nothing: 0.0 / 0.0,
    truths: [true, false], floats: [1.0, 2.5], texts: ['a', ''], day: date('1582-10-04'), far: date('+200000-01-01'),
    clock: time('12:34:56.789-03:30'), plain_clock: localtime('00:00:00.000000001'),
    plain: localdatetime('0001-01-01T00:00:00'), span: duration('P1Y2M3DT4H5M6.7S'),
    spans: [duration('-P1D'), duration('PT0S')], here: point({longitude: 13.4, latitude: 52.5}),
    high: point({x: 1.0, y: 2.0, z: 3.0}), days: [date('2026-01-01')], moments: [datetime('2026-01-01T00:00Z')]
}";

async fn world(kit: &Kit) -> [Uuid; 3] {
    let [keep, absorbed, other] = [kit.node("Ada").await, kit.node("ada").await, kit.node("Babbage").await];
    kit.run_with(
        "UNWIND $id AS id MATCH (n:Entity {id: id})
         SET n.mention_count = 2.0, n.attributes = '{\"b\": 2, \"a\": 1}', n.metadata = '{}', n.source_tool = 'khora',
             n.created_at = '2026-01-01T00:00:00+00:00', n.updated_at = '2026-01-01 00:00:00',
             n.version_valid_from = '2026-01-01T00:00:00.000001+00:00', n.source_chunk_ids = [], n.confidence = 1",
        "id",
        [keep, absorbed, other].map(|id| id.to_string()).to_vec(),
    )
    .await;
    [keep, absorbed, other]
}

/// Everything in the namespace, floats to the bit.
async fn all(kit: &Kit) -> String {
    let edges = "MATCH (a:Entity)-[x]->(b:Entity) WHERE x.namespace_id = $ns
                 RETURN a.id + ' ' + type(x) + ' ' + b.id AS way ORDER BY x.id";
    let ways: Vec<String> = kit.rows(edges).await.iter().map(|row| row.get("way").unwrap()).collect();
    let sorted = |maps: Vec<neo4rs::BoltMap>| {
        let sorted = |map: neo4rs::BoltMap| {
            let mut fields: Vec<String> = map.value.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
            fields.sort();
            fields
        };
        maps.into_iter().map(sorted).collect::<Vec<_>>()
    };
    let versions = kit.properties("(x:EntityVersion)").await;
    format!("{:#?}", (sorted(kit.nodes().await), ways, sorted(kit.edges().await), sorted(versions)))
}

#[tokio::test]
async fn a_merge_that_is_taken_back_leaves_the_very_same_properties() {
    let kit = kit().await;
    let [keep, absorbed, other] = world(&kit).await;
    kit.edge("WORKS_WITH", absorbed, other, ODD).await;
    kit.edge("KNOWS", keep, absorbed, ODD).await;
    kit.edge("KNOWS", other, absorbed, ODD).await;
    kit.edge("KNOWS", other, keep, "{}").await;
    let before = all(&kit).await;

    let merge = Verb::Merge { keep, absorbed: vec![absorbed] };
    let record = kit.tell(&[merge], None).await;
    let merged = all(&kit).await;
    assert_ne!(merged, before);
    assert_eq!(record.retired, [absorbed]);
    assert!(!record.removed.is_empty());
    assert_eq!(kit.count("MATCH (v:EntityVersion) WHERE v.namespace_id = $ns RETURN count(v) AS count").await, 1);

    let json = serde_json::to_string(&record).unwrap();
    let kept = serde_json::from_str(&json).unwrap();
    kit.tell(&[Verb::TakeBack { overwrite: false }], Some(&kept)).await;
    assert_eq!(all(&kit).await, before);
}
