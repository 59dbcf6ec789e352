//! Verdicts: what was decided about two names, and whose word counts.

use dream_core::undo::OnChanged;
use dream_core::verdict::{Ruling, Verdict};

use crate::kit::WorldKit;
use crate::world::{Scene, entity};

pub async fn a_person_is_not_overruled_by_a_run(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L.")]).await;
    let names = (scene.name_of(1).await, scene.name_of(2).await);
    let ruling = |ruling| Verdict::on(names.0, names.1, ruling);
    let (store, namespace) = (&scene.store, scene.namespace.id);
    store.write_verdicts(namespace, &[ruling(Ruling::KeepApart)]).await.unwrap();
    // A plan that was sealed before the person spoke.
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    assert_eq!(store.verdicts(namespace).await.unwrap(), [ruling(Ruling::KeepApart)]);
    store.write_verdicts(namespace, &[ruling(Ruling::SameAs)]).await.unwrap();
    assert_eq!(store.verdicts(namespace).await.unwrap(), [ruling(Ruling::SameAs)], "a person may change their mind");
    let elsewhere = Scene::numbered(kit, 2).await;
    assert_eq!(store.verdicts(elsewhere.namespace.id).await.unwrap(), []);
    store.write_verdicts(namespace, &[]).await.unwrap();
}

pub async fn an_undone_merge_says_that_its_names_stay_two(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L.")]).await;
    let names = (scene.name_of(1).await, scene.name_of(2).await);
    let ruling = |ruling| Verdict::on(names.0, names.1, ruling);
    let verdicts = async || scene.store.verdicts(scene.namespace.id).await.unwrap();
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft.clone()]).await;
    assert_eq!(verdicts().await, [ruling(Ruling::SameAs)]);
    scene.undo(1, OnChanged::Keep).await;
    assert_eq!(verdicts().await, [ruling(Ruling::KeepApart)]);
    scene.dream(2, vec![draft]).await;
    assert_eq!(verdicts().await, [ruling(Ruling::KeepApart)], "no run replaces it");
}

pub async fn two_words_on_one_pair_in_one_group_are_one(kit: &dyn WorldKit) {
    // Names may be taken once only in a namespace, so one name meets itself through two survivors.
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L.")]).await;
    let (one, two) = (scene.merge(1, &[2]).await, scene.merge(2, &[1]).await);
    let unconditional = |draft: dream_core::op::Draft| dream_core::op::Draft { premises: Vec::new(), ..draft };
    scene.dream(1, vec![unconditional(one), unconditional(two)]).await;
    assert_eq!(scene.store.verdicts(scene.namespace.id).await.unwrap().len(), 1);
}
