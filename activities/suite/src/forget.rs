//! Forgetting: what it reaches, and that nothing brings it back.

use dream_core::change::{Column, Row, Table, Value};
use dream_core::op::{Intent, OpKind, OpState, Reason};
use dream_core::plan::{rounds_hash, seal_round};
use dream_core::realm::space::fact::Tier;
use dream_core::realm::space::row::of_fact;
use dream_ports::space::{AnswerOutcome, NewJob, Round};

use crate::actor::{run, step};
use crate::kit::{Dialect, WorldKit};
use crate::spaces::{Place, TEXT_DIGEST, draft, make_space, noted, three, writing};
use crate::world::{INGESTED_AT, id};

/// The tables of this program in which a text stands, in whatever column.
pub(crate) async fn is_told(kit: &dyn WorldKit, text: &str) -> Vec<String> {
    let tables = match kit.dialect() {
        Dialect::Postgres => {
            "select 'dream.' || table_name from information_schema.tables where table_schema = 'dream'"
        }
        Dialect::Sqlite => "select name from sqlite_master where type = 'table' and name like 'dream\\_%' escape '\\'",
    };
    let mut told = Vec::new();
    for table in kit.rows(tables).await {
        let table = table[0].clone().unwrap();
        let columns = match kit.dialect() {
            Dialect::Postgres => "t::text".to_owned(),
            Dialect::Sqlite => {
                let names = kit.rows(&format!("select name from pragma_table_info('{table}')")).await;
                let spelled = names.iter().map(|name| format!("quote({})", name[0].clone().unwrap()));
                spelled.collect::<Vec<_>>().join(" || ' ' || ")
            }
        };
        let rows = kit.rows(&format!("select {columns} from {table} t")).await;
        if rows.iter().any(|row| row[0].as_ref().is_some_and(|row| row.contains(text))) {
            told.push(table);
        }
    }
    told.sort();
    told
}

pub async fn forgetting_a_fact_reaches_every_copy(kit: &dyn WorldKit) {
    let place = Place::with(kit, &[noted(1, "likes tea"), noted(2, "canary-quokka"), noted(3, "lives here")]).await;
    // One dream has merged it away, and another one asks about it.
    let fence = place.begin(1).await;
    let merge = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: false, wording: None };
    place.seal(&fence, "one", 1, vec![draft(OpKind::SpaceMerge, merge)]).await;
    place.apply(&fence).await;
    place.close(&fence).await;
    place.store.put_rows(place.space, &[of_fact(&noted(4, "canary-quokka"))]).await.unwrap();
    let body = format!(r#"{{"fact_ids": ["{}"], "note": "canary-quokka"}}"#, id(4));
    let record = Row::empty(Table::Records, id(60))
        .with(Column::Collection, Value::Text("dream.conflicts".to_owned()))
        .with(Column::Body, Value::Json(body))
        .with(Column::CreatedAt, Value::Time(INGESTED_AT))
        .with(Column::UpdatedAt, Value::Time(INGESTED_AT));
    place.store.put_rows(place.space, &[record]).await.unwrap();
    let fence = place.begin(2).await;
    let job = NewJob { body: "canary-quokka", facts: &[], waits_for_client: true };
    place.store.ask(&fence, &job).await.unwrap();
    assert_eq!(place.answer(2, 1, Some("canary-quokka")).await, AnswerOutcome::Accepted);
    let told = ["fact", "job", "job_answer", "record", "undo"].map(|table| kit.dialect().own(table));
    assert_eq!(is_told(kit, "canary-quokka").await, told);
    let merged = place.store.forget_fact(place.space, id(2)).await.unwrap();
    assert_eq!((merged.was_there, merged.undo_records), (false, 1));
    assert_eq!(merged.abandoned, [run(2)]);
    let forgotten = place.store.forget_fact(place.space, id(4)).await.unwrap();
    assert_eq!((forgotten.was_there, forgotten.abandoned), (true, vec![]));
    assert_eq!(is_told(kit, "quokka").await, Vec::<String>::new());
    assert_eq!(place.undo(1).await.undone, 1);
    assert_eq!(place.fact(2).await, None, "undo does not bring it back");
    assert_eq!(place.answer(2, 2, Some("{}")).await, AnswerOutcome::OtherAccepted);
    assert!(place.store.fence(run(2), "late").await.is_err());
}

pub async fn what_dreams_made_of_a_forgotten_fact_goes_with_it(kit: &dyn WorldKit) {
    let place = Place::with(kit, &[noted(1, "likes tea"), noted(2, "keeps a quokka"), noted(3, "lives here")]).await;
    let entry = |number, text: &str| {
        Row::empty(Table::Journal, id(number))
            .with(Column::Kind, Value::Text("day".to_owned()))
            .with(Column::StartsOn, Value::Text("2026-11-23".to_owned()))
            .with(Column::Text, Value::Text(text.to_owned()))
            .with(Column::CreatedAt, Value::Time(INGESTED_AT))
            .with(Column::UpdatedAt, Value::Time(INGESTED_AT))
    };
    place.store.put_rows(place.space, &[entry(70, "drank tea")]).await.unwrap();
    // Two dreams write everything that a dream can, the second one over what the first one wrote.
    for (number, text) in [(1, "likes tea and a quokka"), (2, "likes tea, and the quokka too")] {
        let fence = place.begin(number).await;
        let mut drafts = writing(place.space);
        if number == 2 {
            place.store.put_rows(place.space, &[of_fact(&noted(4, "likes teas"))]).await.unwrap();
            drafts.remove(1);
            let wording = Some(TEXT_DIGEST);
            drafts[0].intent = Intent::MergeFacts { keep: id(1), absorb: vec![id(4)], adds_recalls: false, wording };
        }
        place.seal_saying(&fence, "answer", 1, drafts, text).await;
        assert!(place.apply(&fence).await.iter().all(|(_, state, _)| *state == OpState::Applied));
        place.close(&fence).await;
    }
    let told = ["fact", "journal", "profile", "record", "undo"].map(|table| kit.dialect().own(table));
    assert_eq!(is_told(kit, "quokka").await, told);
    let forgotten = place.store.forget_fact(place.space, id(2)).await.unwrap();
    assert!(forgotten.derived > 0 && forgotten.reworded.is_empty(), "{forgotten:?}");
    assert_eq!(is_told(kit, "quokka").await, Vec::<String>::new());
    assert_eq!(place.fact(1).await.unwrap().text, "likes tea", "its own words, and nobody else's");
    for number in [2, 1] {
        place.undo(number).await;
        assert_eq!(is_told(kit, "quokka").await, Vec::<String>::new(), "after undo of {number}");
    }
    let texts = [place.fact(1).await.unwrap().text, place.fact(3).await.unwrap().text];
    assert_eq!((texts, place.fact(2).await), (["likes tea".to_owned(), "lives here".to_owned()], None));
    assert_eq!(place.fact(4).await.unwrap().text, "likes teas", "another fact comes back");
    let journal = place.store.space_rows(place.space, Table::Journal, None, 10).await.unwrap();
    assert_eq!(journal, [entry(70, "drank tea")], "what the agent wrote stays");
}

pub async fn what_was_merged_into_a_forgotten_fact_goes_with_it_and_what_others_say_too_stays(kit: &dyn WorldKit) {
    let place =
        Place::with(kit, &[noted(1, "keeps a quokka"), noted(2, "Keeps  a Quokka"), noted(3, "drinks tea")]).await;
    let fence = place.begin(1).await;
    let merge = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: true, wording: None };
    let profile = Intent::WriteProfile { space: place.space.0, text: TEXT_DIGEST };
    let drafts = vec![draft(OpKind::SpaceDedupeExact, merge), draft(OpKind::SpaceProfile, profile)];
    place.seal_saying(&fence, "answer", 1, drafts, "Drinks tea.").await;
    place.apply(&fence).await;
    place.close(&fence).await;
    let forgotten = place.store.forget_fact(place.space, id(1)).await.unwrap();
    assert_eq!((forgotten.was_there, forgotten.undo_records, forgotten.derived), (true, 1, 0), "{forgotten:?}");
    assert_eq!(place.store.space_rows(place.space, Table::Profiles, None, 10).await.unwrap().len(), 1);
    place.undo(1).await;
    assert_eq!((place.fact(1).await, place.fact(2).await), (None, None));
    for text in ["quokka", "Quokka"] {
        assert_eq!(is_told(kit, text).await, Vec::<String>::new());
    }
}

pub async fn a_wording_that_can_no_longer_be_taken_back_is_named(kit: &dyn WorldKit) {
    let place = Place::with(kit, &[noted(1, "likes tea"), noted(2, "keeps a quokka")]).await;
    let fence = place.begin(1).await;
    let wording = Some(TEXT_DIGEST);
    let merge = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: false, wording };
    place.seal(&fence, "answer", 1, vec![draft(OpKind::SpaceMerge, merge)]).await;
    place.apply(&fence).await;
    place.close(&fence).await;
    let now = place.store.now().await.unwrap();
    assert_eq!(place.store.purge_space_undo(now.plus_seconds(60)).await.unwrap(), 1);
    assert_eq!(place.store.forget_fact(place.space, id(2)).await.unwrap().reworded, [id(1)]);
    assert!(place.fact(1).await.is_some());
}

pub async fn what_was_forgotten_since_is_neither_asked_nor_sealed(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let fence = place.begin(1).await;
    let facts = [id(1), id(2)];
    let job = NewJob { body: "likes green tea", facts: &facts, waits_for_client: false };
    place.store.forget_fact(place.space, id(2)).await.unwrap();
    assert!(!place.store.ask(&fence, &job).await.unwrap());
    assert_eq!(place.store.job(run(1)).await.unwrap(), None);
    assert!(place.store.ask(&fence, &NewJob { facts: &facts[..1], ..job }).await.unwrap());
    let drafts = vec![draft(OpKind::SpacePromote, Intent::MoveFact { fact: id(1), tier: Tier::Core })];
    let plan = seal_round(run(1), 1, drafts);
    let round = Round {
        plan: &plan,
        run_hash: &rounds_hash([&plan.hash]),
        step: &step("answer"),
        texts: &[(TEXT_DIGEST, "likes green tea".to_owned())],
        skip_reasons: &[],
        is_answer: true,
    };
    place.store.forget_fact(place.space, id(3)).await.unwrap();
    assert!(!place.store.append_round(&fence, &round).await.unwrap());
    assert_eq!(place.store.run(run(1)).await.unwrap().ops_total, 0);
    assert_eq!(is_told(kit, "green tea").await, Vec::<String>::new());
}

pub async fn a_space_forgets_nothing_of_another_one(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let other = dream_core::id::NamespaceId(uuid::Uuid::from_u128(0x5bacf));
    make_space(place.store.as_ref(), other).await;
    let fence = place.begin(1).await;
    let merge = Intent::MergeFacts { keep: id(1), absorb: vec![id(2)], adds_recalls: false, wording: None };
    place.seal(&fence, "one", 1, vec![draft(OpKind::SpaceMerge, merge)]).await;
    place.apply(&fence).await;
    place.close(&fence).await;
    for fact in [1, 2, 3] {
        let forgotten = place.store.forget_fact(other, id(fact)).await.unwrap();
        assert_eq!((forgotten.was_there, forgotten.undo_records, forgotten.derived), (false, 0, 0));
    }
    assert_eq!(place.undo(1).await.undone, 1);
    assert_eq!(place.fact(2).await, Some(noted(2, "likes green tea")));
}

pub async fn an_op_whose_text_was_forgotten_is_skipped(kit: &dyn WorldKit) {
    let place = Place::with(kit, &three()).await;
    let fence = place.begin(1).await;
    place.seal(&fence, "answer", 1, writing(place.space)).await;
    place.store.forget_fact(place.space, id(404)).await.unwrap();
    let fates = place.apply(&fence).await;
    let skipped = (OpState::Skipped, Some(Reason::TextForgotten));
    assert!(fates.iter().all(|(kind, state, reason)| *kind == OpKind::SpacePromote || (*state, *reason) == skipped));
    assert_eq!(place.fact(2).await, Some(noted(2, "likes green tea")));
}
