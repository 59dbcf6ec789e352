//! Groups: every intent carried out on real rows, with everything it leaves behind.

use std::collections::BTreeMap;

use dream_core::change::{Column, RowKey, Table, Value};
use dream_core::op::{Decision, OpKind, OpState, Reason};
use dream_core::realm::graph::centroid::EmbeddingAnswer;
use dream_core::verdict::{Ruling, Verdict};
use dream_ports::apply::{GroupOutcome, GroupRequest};

use crate::actor::{Fate, centroid, drop_references, group, kept_apart, run};
use crate::kit::{ChunkTable, Mention, WorldKit};
use crate::world::{DIMENSION, MODEL, Scene, chunk, document, edge, entity, id, temporal_edge, vector};

const APPLIED: OpState = OpState::Applied;
const MERGED: Fate = (OpKind::DedupeEntities, APPLIED, None);

fn alias(number: u128) -> RowKey {
    RowKey { table: Table::Aliases, id: id(number) }
}

pub async fn a_merge_loses_nothing(kit: &dyn WorldKit) {
    let rich = entity(2, "Ada L.")
        .with(Column::MentionCount, Value::Int(4))
        .with(Column::Confidence, Value::Float(0.95))
        .with(Column::Attributes, Value::Json(r#"{"born":1815,"id":123456789012345678}"#.to_owned()));
    let poor = entity(1, "Ada")
        .with(Column::Description, Value::Text(String::new()))
        .with(Column::MentionCount, Value::Null)
        .with(Column::Attributes, Value::Json(r#"{"born":1816}"#.to_owned()));
    let scene = Scene::new(kit).await.with(&[poor, rich]).await;
    let draft = scene.merge(1, &[2]).await;
    assert_eq!(scene.dream(1, vec![draft]).await, [MERGED]);

    let (survivor, absorbed) = (scene.entity(1).await, scene.entity(2).await);
    assert_eq!(survivor.get(Column::MentionCount), &Value::Int(5));
    assert_eq!(survivor.get(Column::Description).text(), Some("About Ada L.."));
    assert_eq!(survivor.get(Column::SourceChunkIds), &Value::Ids(vec![chunk(1), chunk(2)]));
    assert_eq!(survivor.get(Column::SourceDocumentIds), &Value::Ids(vec![document(1), document(2)]));
    assert_eq!(survivor.get(Column::Confidence), &Value::Float(0.95));
    let attributes = survivor.get(Column::Attributes).text().unwrap();
    assert!(attributes.contains("1816") && attributes.contains("123456789012345678"), "{attributes}");
    let metadata: serde_json::Value = serde_json::from_str(survivor.get(Column::Metadata).text().unwrap()).unwrap();
    assert_eq!(metadata["aliases"], serde_json::json!(["Ada L."]));
    assert_eq!(metadata["attribute_alternatives"]["born"], serde_json::json!([1815]));
    assert!(survivor.get(Column::ValidUntil).is_null());

    assert!(absorbed.get(Column::ValidUntil).time().is_some(), "retired, not deleted");
    assert_eq!(absorbed.get(Column::MentionCount), &Value::Int(4));
    let alias = scene.row(alias(2)).await.unwrap();
    assert_eq!(alias.get(Column::CanonicalId), &Value::Id(id(1)));
    assert_eq!(alias.get(Column::Name).text(), Some("Ada L."));
    assert_eq!(alias.get(Column::MentionCountSeen), &Value::Int(4));
}

pub async fn a_merge_leads_edges_over(kit: &dyn WorldKit) {
    let rows = [
        entity(1, "Ada"),
        entity(2, "Ada L."),
        entity(3, "Bob"),
        edge(10, 2, 3, "KNOWS"),
        edge(11, 1, 2, "KNOWS"),
        edge(12, 1, 3, "LIKES"),
        edge(13, 2, 3, "LIKES").with(Column::Weight, Value::Float(2.0)),
        edge(14, 3, 2, "PRUNED").with(Column::ValidTo, Value::Time(crate::world::INGESTED_AT)),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    let ends = async |number| {
        let edge = scene.edge(number).await;
        let end = |column| edge.get(column).id().unwrap();
        (end(Column::SourceEntityId), end(Column::TargetEntityId), edge.get(Column::InvalidatedAt).is_null())
    };
    assert_eq!(ends(10).await, (id(1), id(3), true), "moved");
    assert_eq!(ends(11).await, (id(1), id(2), false), "would point at itself: retired, and says what it said");
    assert_eq!(ends(12).await, (id(1), id(3), true), "the parallel edge it was folded into");
    assert_eq!(ends(13).await, (id(2), id(3), false), "folded");
    assert_eq!(ends(14).await, (id(3), id(1), true), "history follows too");
    assert_eq!(scene.edge(12).await.get(Column::SourceChunkIds), &Value::Ids(vec![chunk(12), chunk(13)]));
    let op = scene.ops(1).await[0].op.id;
    assert_eq!(scene.edge(11).await.get(Column::InvalidatedBy), &Value::Id(op.0));
}

pub async fn a_merge_leaves_its_trail(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L."), edge(10, 2, 1, "KNOWS")]).await;
    let (one, two) = (scene.name_of(1).await, scene.name_of(2).await);
    let draft = scene.merge(1, &[2]).await;
    let (fence, plan) = scene.planned(1, vec![draft]).await;
    let op = plan.ops[0].id;
    let outcome = scene.apply_group(&fence, 500).await.unwrap();
    assert_eq!(outcome, GroupOutcome::Committed { seq: 1, ops: vec![MERGED] });
    assert_eq!(scene.store.run(run(1)).await.unwrap().last_committed_seq, 1);

    let records = scene.store.undo_records(run(1), 0, 10).await.unwrap();
    assert_eq!(records.len(), 1);
    let (undone_op, seq, record) = &records[0];
    assert_eq!((*undone_op, *seq), (op, 1));
    let keys: Vec<RowKey> = record.keys().collect();
    for key in [RowKey::entity(id(1)), RowKey::entity(id(2)), RowKey::relationship(id(10)), alias(2)] {
        assert!(keys.contains(&key), "{key:?}");
        assert_eq!(scene.store.touches(key, 10).await.unwrap()[0].op, op);
    }
    assert_eq!(kit.outbox().await, [(run(1).0, op.0, "apply".to_owned(), "open".to_owned())]);
    assert_eq!(scene.store.outbox_open().await.unwrap().0, 1);
    let same = Verdict::on(one, two, Ruling::SameAs);
    assert_eq!(scene.store.verdicts(scene.namespace.id).await.unwrap(), [same]);
    let numbers = scene.ops(1).await[0].numbers.clone().unwrap();
    assert!(numbers.contains(r#""absorbed":1"#) && numbers.contains(r#""mentions_added":1"#), "{numbers}");
}

pub async fn temporal_edges_follow_a_merge(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let rows = [
        entity(1, "Ada"),
        entity(2, "Ada L."),
        entity(3, "Bob"),
        temporal_edge(20, 2, 3),
        temporal_edge(21, 3, 2),
        temporal_edge(22, 1, 2),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    for number in [20, 21] {
        let key = RowKey { table: Table::TemporalEdges, id: id(number) };
        let row = scene.row(key).await.unwrap();
        let ends = [Column::SourceEntityId, Column::TargetEntityId].map(|column| row.get(column).id().unwrap());
        assert!(ends.contains(&id(1)) && ends.contains(&id(3)), "{number}: {ends:?}");
    }
}

pub async fn a_survivor_gets_the_mean_of_its_members(kit: &dyn WorldKit) {
    if !kit.has_vectors() {
        return;
    }
    let rows = [
        entity(1, "Ada").with(Column::Embedding, vector(0, 0.0)),
        entity(2, "Adah").with(Column::Embedding, vector(0, 0.4)),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let merge = scene.merge(1, &[2]).await;
    let mean = centroid(&merge, Decision::Centroid);
    let fates = scene.dream(1, vec![merge, mean]).await;
    assert_eq!(fates, [MERGED, (OpKind::CentroidRecompute, APPLIED, None)]);
    let survivor = scene.entity(1).await;
    let mean = survivor.get(Column::Embedding).vector().unwrap();
    let (one, two) = (vector(0, 0.0), vector(0, 0.4));
    let sum: Vec<f32> =
        one.vector().unwrap().iter().zip(two.vector().unwrap()).map(|(one, two)| f32::midpoint(*one, *two)).collect();
    let length = sum.iter().map(|component| component * component).sum::<f32>().sqrt();
    for (component, expected) in mean.iter().zip(sum) {
        assert!((component - expected / length).abs() < 1e-6);
    }
    assert_eq!(scene.entity(2).await.get(Column::Embedding), &two, "the absorbed keeps its own");
}

pub async fn a_survivor_gets_the_vector_an_embedder_made(kit: &dyn WorldKit) {
    if !kit.has_vectors() {
        return;
    }
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Countess")]).await;
    let merge = scene.merge(1, &[2]).await;
    let re_embed = centroid(&merge, Decision::ReEmbed);
    let (fence, _) = scene.planned(1, vec![merge, re_embed.clone()]).await;
    let Value::Vector(made) = vector(3, 0.25) else { unreachable!() };
    let answer = EmbeddingAnswer { vector: made.clone(), model: "other-model".to_owned() };
    let request = GroupRequest { answers: BTreeMap::from([(re_embed.content_key(), answer)]), ..group(500) };
    scene.store.apply_group(&fence, &request).await.unwrap();
    let survivor = scene.entity(1).await;
    assert_eq!(survivor.get(Column::Embedding), &Value::Vector(made));
    assert_eq!(survivor.get(Column::EmbeddingModel).text(), Some("other-model"));
    scene.close(&fence).await;

    let scene = Scene::numbered(kit, 2).await.with(&[entity(3, "Bob"), entity(4, "Robert")]).await;
    let merge = scene.merge(3, &[4]).await;
    let re_embed = centroid(&merge, Decision::ReEmbed);
    let fates = scene.dream(2, vec![merge, re_embed]).await;
    assert_eq!(fates[1], (OpKind::CentroidRecompute, OpState::Skipped, Some(Reason::NoEmbedding)));
    assert_eq!(scene.entity(3).await.get(Column::EmbeddingModel).text(), Some(MODEL));
    assert_eq!(DIMENSION, 384);
}

pub async fn dead_references_go_and_live_ones_stay(kit: &dyn WorldKit) {
    let references = |chunks: &[u128]| Value::Ids(chunks.iter().copied().map(chunk).collect());
    let rows = [
        entity(1, "Ada").with(Column::SourceChunkIds, references(&[1, 2, 3, 2])),
        edge(10, 1, 1, "IS").with(Column::SourceChunkIds, references(&[3, 1])),
    ];
    let scene = Scene::new(kit).await.with(&rows).await.with_chunks([1]).await;
    let before = scene.entity(1).await;
    let drafts =
        vec![drop_references(RowKey::entity(id(1)), &[2, 3]), drop_references(RowKey::relationship(id(10)), &[3])];
    let (fence, _) = scene.planned(1, drafts).await;
    // Ingestion wrote a chunk and a reference since the plan was made.
    kit.insert_chunk(scene.namespace.id, chunk(3), ChunkTable::Chunks).await;
    let fates = scene.apply_all(&fence).await;
    let after = scene.entity(1).await;
    assert_eq!(after.get(Column::SourceChunkIds), &references(&[1, 3]));
    assert_eq!(after.get(Column::UpdatedAt), before.get(Column::UpdatedAt), "nothing was learned about the row");
    assert_eq!(scene.edge(10).await.get(Column::SourceChunkIds), &references(&[3, 1]));
    let states: Vec<OpState> = fates.iter().map(|(_, state, _)| *state).collect();
    assert_eq!(states, [APPLIED, OpState::Noop]);
}

pub async fn what_ingestion_brought_back_is_led_over(kit: &dyn WorldKit) {
    let two = entity(2, "Ada L.").with(Column::MentionCount, Value::Int(4));
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), two, entity(3, "Bob")]).await;
    let merge = scene.merge(1, &[2]).await;
    scene.dream(1, vec![merge]).await;
    let mention = Mention {
        id: id(99),
        name: "Ada L.".to_owned(),
        entity_type: "PERSON".to_owned(),
        mention_count: 3,
        chunk: chunk(50),
    };
    kit.ingest(scene.namespace.id, &mention).await;
    kit.insert(scene.namespace.id, &edge(30, 2, 3, "MET")).await;
    let draft = scene.reabsorb(1, 2).await;
    assert_eq!(scene.dream(2, vec![draft]).await, [(OpKind::Reabsorb, APPLIED, None)]);
    assert_eq!(scene.entity(1).await.get(Column::MentionCount), &Value::Int(1 + 4 + 3), "none lost, none twice");
    assert!(!scene.entity(2).await.get(Column::ValidUntil).is_null(), "retired again");
    assert_eq!(scene.edge(30).await.get(Column::SourceEntityId), &Value::Id(id(1)));
}

pub async fn a_cluster_is_never_cut(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L."), entity(3, "Bob")]).await;
    let merge = scene.merge(1, &[2]).await;
    let drafts = vec![
        merge,
        drop_references(RowKey::entity(id(1)), &[1]),
        drop_references(RowKey::entity(id(1)), &[2]),
        drop_references(RowKey::entity(id(3)), &[3]),
    ];
    let (fence, _) = scene.planned(1, drafts).await;
    let committed = async |ops_max| match scene.apply_group(&fence, ops_max).await.unwrap() {
        GroupOutcome::Committed { seq, ops } => (seq, ops.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(committed(1).await, (1, 1), "a single op that is asked for stands alone");
    assert_eq!(committed(2).await, (3, 2));
    assert_eq!(committed(2).await, (4, 1));
    assert_eq!(scene.apply_group(&fence, 2).await.unwrap(), GroupOutcome::Nothing);
}

pub async fn a_group_ends_where_it_is_told_to(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob"), entity(3, "Cy")]).await;
    let drafts = (1..=3).map(|number| drop_references(RowKey::entity(id(number)), &[number])).collect();
    let (fence, _) = scene.planned(1, drafts).await;
    let request = GroupRequest { seq_to: 2, has_graph: false, ..group(500) };
    let outcome = scene.store.apply_group(&fence, &request).await.unwrap();
    assert!(matches!(outcome, GroupOutcome::Committed { seq: 2, ref ops } if ops.len() == 2), "{outcome:?}");
    assert_eq!(scene.store.apply_group(&fence, &request).await.unwrap(), GroupOutcome::Nothing);
    let states: Vec<String> = kit.outbox().await.into_iter().map(|(_, _, _, state)| state).collect();
    assert_eq!(states, ["no_graph", "no_graph"], "nobody waits for them");
    assert_eq!(scene.store.outbox_open().await.unwrap(), (0, None));
}

pub async fn a_dependent_of_what_was_not_applied_is_skipped(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L.")]).await;
    let merge = scene.merge(1, &[2]).await;
    let child = centroid(&merge, Decision::ReEmbed);
    let skipped = (OpKind::CentroidRecompute, OpState::Skipped, Some(Reason::ParentNotApplied));
    let (fence, _) = scene.planned(1, vec![merge, child]).await;
    kit.change_entity(id(2), "name = 'Somebody else'").await;
    // Once across two groups, once within one.
    scene.apply_group(&fence, 1).await.unwrap();
    assert_eq!(scene.apply_all(&fence).await, [skipped]);
    scene.close(&fence).await;
    let stale = crate::actor::merge(1, &[2], vec![dream_core::op::Premise::RowLive { row: RowKey::entity(id(8)) }]);
    let child = centroid(&stale, Decision::ReEmbed);
    assert_eq!(scene.dream(2, vec![stale, child]).await[1], skipped);
}

pub async fn ops_of_one_group_see_each_other(kit: &dyn WorldKit) {
    let rows = [entity(1, "Ada"), entity(2, "Ada L."), entity(3, "Countess"), kept(4), kept(5)];
    let scene = Scene::new(kit).await.with(&rows).await;
    let (one, two) = (scene.merge(1, &[2]).await, scene.merge(1, &[3]).await);
    let fates = scene.dream(1, vec![one, two, kept_apart(&[4, 5])]).await;
    assert_eq!(fates, [MERGED, MERGED], "what is settled by the decision is no part of a group");
    let survivor = scene.entity(1).await;
    assert_eq!(survivor.get(Column::MentionCount), &Value::Int(3));
    let mut chunks = survivor.get(Column::SourceChunkIds).ids().to_vec();
    chunks.sort_unstable();
    assert_eq!(chunks, [chunk(1), chunk(2), chunk(3)]);
}

fn kept(number: u128) -> dream_core::change::Row {
    entity(number, &format!("Stranger {number}"))
}
