//! Premises: an op whose ground is gone changes nothing, says why, and does not end the run.

use dream_core::algo::cosine::Score;
use dream_core::change::{Column, Row, RowKey, Value};
use dream_core::op::{Draft, OpKind, OpState, Premise, Reason};

use crate::actor::{drop_references, merge};
use crate::kit::{WorldKit, assert_same};
use crate::world::{INGESTED_AT, Scene, edge, entity, id, vector};

/// Carries out one draft after somebody changed something, and expects it to be stale for this reason.
async fn assert_stale(scene: &Scene<'_>, number: u128, draft: Draft, reason: Reason) {
    let content = scene.kit.content().await;
    let fates = scene.dream(number, vec![draft]).await;
    assert_eq!(
        fates.iter().map(|(_, state, why)| (*state, *why)).collect::<Vec<_>>(),
        [(OpState::Stale, Some(reason))]
    );
    assert_same(&scene.kit.content().await, &content, "content");
    assert_eq!(scene.kit.count("undo").await, 0);
}

pub async fn an_entity_that_changed_makes_an_op_stale(kit: &dyn WorldKit) {
    let rows: Vec<Row> = (1..=6).map(|number| entity(number, &format!("Person {number}"))).collect();
    let scene = Scene::new(kit).await.with(&rows).await;
    let past = kit.dialect().moment(INGESTED_AT);
    let renamed = scene.merge(1, &[2]).await;
    kit.change_entity(id(2), "name = 'Somebody else'").await;
    assert_stale(&scene, 1, renamed, Reason::NameOrTypeChanged).await;
    let retyped = scene.merge(1, &[3]).await;
    kit.change_entity(id(3), "entity_type = 'CITY'").await;
    assert_stale(&scene, 2, retyped, Reason::NameOrTypeChanged).await;
    let retired = scene.merge(1, &[4]).await;
    kit.change_entity(id(4), &format!("valid_until = {past}")).await;
    assert_stale(&scene, 3, retired, Reason::RowRetired).await;
    let gone = scene.merge(1, &[5]).await;
    kit.execute(&format!("delete from entities where id = {}", kit.dialect().id(id(5)))).await;
    assert_stale(&scene, 4, gone, Reason::RowMissing).await;
    let named = Premise::EntityNamed { entity: id(6), name_and_type: scene.name_of(6).await };
    kit.change_entity(id(6), &format!("valid_until = {past}, name = 'Another'")).await;
    assert_stale(&scene, 5, merge(1, &[6], vec![named]), Reason::NameOrTypeChanged).await;
}

pub async fn vectors_that_no_longer_agree_make_an_op_stale(kit: &dyn WorldKit) {
    if !kit.has_vectors() {
        return;
    }
    let rows = [
        entity(1, "Ada").with(Column::Embedding, vector(0, 0.0)),
        entity(2, "Adah").with(Column::Embedding, vector(0, 0.1)),
        entity(3, "Far").with(Column::Embedding, vector(100, 0.0)),
        entity(4, "Bare"),
        entity(5, "Other model")
            .with(Column::Embedding, vector(0, 0.1))
            .with(Column::EmbeddingModel, Value::Text("other".to_owned())),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let agreeing = |right| vec![Premise::Cosine { left: id(1), right: id(right), score_min: Score(9_000) }];
    assert_stale(&scene, 1, merge(1, &[3], agreeing(3)), Reason::VectorsDisagree).await;
    assert_stale(&scene, 2, merge(1, &[4], agreeing(4)), Reason::VectorsDisagree).await;
    assert_stale(&scene, 3, merge(1, &[5], agreeing(5)), Reason::EmbeddingModelChanged).await;
    let fates = scene.dream(4, vec![merge(1, &[2], agreeing(2))]).await;
    assert_eq!(fates, [(OpKind::DedupeEntities, OpState::Applied, None)]);
}

pub async fn a_row_that_ended_makes_an_op_stale(kit: &dyn WorldKit) {
    let ended = |number, column| edge(number, 1, 2, "KNOWS").with(column, Value::Time(INGESTED_AT));
    let rows = [
        entity(1, "Ada"),
        entity(2, "Bob"),
        ended(10, Column::ValidTo),
        ended(11, Column::InvalidatedAt),
        ended(12, Column::ValidUntil),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    for (run, number) in (1..).zip([10, 11, 12]) {
        let draft = drop_references(RowKey::relationship(id(number)), &[number]);
        assert_stale(&scene, run, draft, Reason::RowRetired).await;
    }
    let missing = drop_references(RowKey::relationship(id(77)), &[1]);
    assert_stale(&scene, 9, missing, Reason::RowMissing).await;
}

pub async fn an_alias_that_is_gone_makes_an_op_stale(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L.")]).await;
    let draft = scene.reabsorb(1, 2).await;
    assert_stale(&scene, 1, draft, Reason::AliasGone).await;
}

pub async fn a_stale_op_does_not_end_the_run(kit: &dyn WorldKit) {
    let rows: Vec<Row> = (1..=6).map(|number| entity(number, &format!("Person {number}"))).collect();
    let scene = Scene::new(kit).await.with(&rows).await;
    let drafts = vec![scene.merge(1, &[2]).await, scene.merge(3, &[4]).await, scene.merge(5, &[6]).await];
    let (fence, _) = scene.planned(1, drafts).await;
    kit.change_entity(id(4), "name = 'Somebody else'").await;
    let states: Vec<OpState> = scene.apply_all(&fence).await.iter().map(|(_, state, _)| *state).collect();
    assert_eq!(states, [OpState::Applied, OpState::Stale, OpState::Applied]);
    let counts = scene.store.counts(fence.run).await.unwrap();
    assert_eq!(counts[&OpKind::DedupeEntities], [(OpState::Applied, 2), (OpState::Stale, 1)].into());
}
