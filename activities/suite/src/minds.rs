//! The account of the calls of a model: what is counted, what is granted, and which answers are kept for how long.

use dream_core::budget::{Budget, CallOutcome, Limit, Usage};
use dream_core::digest::Fingerprint;
use dream_core::id::NamespaceId;
use dream_ports::StoreError;
use dream_ports::mind::{NewCall, Reservation, Settlement};
use dream_ports::run::Fence;
use dream_ports::space::NewJob;

use crate::actor::run;
use crate::forget::is_told;
use crate::kit::WorldKit;
use crate::spaces::{Place, noted};
use crate::world::id;

const BUDGET: Budget = Budget { calls_per_run: 3, tokens_per_run: 100, calls_per_day: 4, tokens_per_day: 150 };

const QUESTION: Fingerprint = Fingerprint([5; 16]);

const SECONDS_PER_DAY: i64 = 86_400;

async fn reserve(place: &Place, fence: &Fence, tokens: u64) -> Result<Reservation, StoreError> {
    place.store.reserve_call(fence, &NewCall { model: "openai/a-model", tokens, budget: &BUDGET }).await
}

/// Reserves a call that must be granted, and answers its number.
async fn granted(place: &Place, fence: &Fence, tokens: u64) -> u32 {
    match reserve(place, fence, tokens).await.unwrap() {
        Reservation::Granted(call) => call,
        Reservation::Forbidden(limit) => panic!("a call of {tokens} tokens is forbidden by {limit}"),
    }
}

async fn settle(place: &Place, fence: &Fence, call: u32, usage: Option<Usage>, answer: Option<&str>) {
    let outcome = if answer.is_some() { CallOutcome::Answered } else { CallOutcome::Unanswered };
    let answer = answer.map(|text| (QUESTION, text));
    let settlement = Settlement { call, outcome, usage, problem: None, answer };
    place.store.settle_call(fence, &settlement).await.unwrap();
}

const fn took(input: u64, output: u64) -> Usage {
    Usage { input, output }
}

/// A space with a run that has asked its question.
async fn asked(kit: &dyn WorldKit) -> (Place, Fence) {
    let place = Place::with(kit, &[noted(1, "likes tea")]).await;
    let fence = place.begin(1).await;
    ask(&place, &fence).await;
    (place, fence)
}

async fn ask(place: &Place, fence: &Fence) {
    place.store.ask(fence, &NewJob { body: "a question", facts: &[], waits_for_client: false }).await.unwrap();
}

async fn kept(place: &Place, space: NamespaceId) -> Option<(u32, String)> {
    place.store.kept_answer(space, QUESTION).await.unwrap().map(|kept| (kept.call, kept.text))
}

pub async fn a_call_counts_by_what_it_may_take_and_then_by_what_it_took(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let first = granted(&place, &fence, 80).await;
    let forbidden = Reservation::Forbidden(Limit::TokensPerRun);
    assert_eq!(reserve(&place, &fence, 21).await.unwrap(), forbidden);
    settle(&place, &fence, first, Some(took(10, 5)), None).await;
    assert_eq!(reserve(&place, &fence, 86).await.unwrap(), forbidden);
    let second = granted(&place, &fence, 85).await;
    assert_eq!((first, second), (1, 2));
    let calls = place.store.calls(run(1)).await.unwrap();
    let told: Vec<_> = calls.iter().map(|call| (call.call, call.outcome, call.tokens_reserved, call.usage)).collect();
    assert_eq!(told, [(1, CallOutcome::Unanswered, 80, Some(took(10, 5))), (2, CallOutcome::Reserved, 85, None)]);
    assert_eq!((calls[0].model.as_str(), calls[0].problem.as_deref()), ("openai/a-model", None));
}

pub async fn a_call_that_nobody_settled_goes_on_counting(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    granted(&place, &fence, 60).await;
    // The process dies here; whoever goes on with the run finds the call counted.
    let again = place.begin(1).await;
    assert_eq!(reserve(&place, &again, 41).await.unwrap(), Reservation::Forbidden(Limit::TokensPerRun));
    let second = granted(&place, &again, 40).await;
    // Of a call whose end is known and whose taking is not, the reservation stays too.
    settle(&place, &again, second, None, None).await;
    assert_eq!(reserve(&place, &again, 1).await.unwrap(), Reservation::Forbidden(Limit::TokensPerRun));
}

pub async fn a_budget_that_is_spent_grants_no_call(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    for _ in 0..BUDGET.calls_per_run {
        let call = granted(&place, &fence, 1).await;
        settle(&place, &fence, call, Some(took(0, 0)), None).await;
    }
    assert_eq!(reserve(&place, &fence, 1).await.unwrap(), Reservation::Forbidden(Limit::CallsPerRun));
    assert_eq!(place.store.calls(run(1)).await.unwrap().len(), 3, "nothing is written of a call that is not granted");
}

pub async fn a_day_has_its_budget_and_the_next_one_another(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 100).await;
    settle(&place, &fence, call, Some(took(90, 10)), None).await;
    place.close(&fence).await;
    let fence = place.begin(2).await;
    assert_eq!(reserve(&place, &fence, 51).await.unwrap(), Reservation::Forbidden(Limit::TokensPerDay));
    for _ in 0..3 {
        granted(&place, &fence, 1).await;
    }
    place.close(&fence).await;
    let fence = place.begin(3).await;
    assert_eq!(reserve(&place, &fence, 1).await.unwrap(), Reservation::Forbidden(Limit::CallsPerDay));
    let table = kit.dialect().own("mind_call");
    kit.execute(&format!("update {table} set day = day - 1")).await;
    granted(&place, &fence, 100).await;
}

pub async fn an_answer_is_kept_until_its_run_is_over(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 10).await;
    settle(&place, &fence, call, Some(took(5, 5)), Some("canary-quokka")).await;
    let other = NamespaceId(id(404));
    assert_eq!(kept(&place, place.space).await, Some((call, "canary-quokka".to_owned())));
    assert_eq!(kept(&place, other).await, None);
    assert_eq!(is_told(kit, "canary-quokka").await, [kit.dialect().own("mind_answer")]);
    place.store.count_reuse(&fence, call).await.unwrap();
    assert_eq!(place.store.calls(run(1)).await.unwrap()[0].times_reused, 1);
    place.close(&fence).await;
    assert_eq!(kept(&place, place.space).await, None);
    assert_eq!(is_told(kit, "canary-quokka").await, Vec::<String>::new());
    assert_eq!(place.store.calls(run(1)).await.unwrap().len(), 1, "the account stays");
}

pub async fn an_answer_that_cannot_be_used_is_let_go(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 10).await;
    settle(&place, &fence, call, Some(took(5, 5)), Some("{")).await;
    for _ in 0..2 {
        place.store.reject_answer(&fence, call, "the answer breaks off").await.unwrap();
    }
    assert_eq!(kept(&place, place.space).await, None);
    let calls = place.store.calls(run(1)).await.unwrap();
    assert_eq!((calls[0].outcome, calls[0].usage), (CallOutcome::Bad, Some(took(5, 5))));
    assert_eq!(calls[0].problem.as_deref(), Some("the answer breaks off"));
}

pub async fn an_answer_to_a_forgotten_question_is_not_kept(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 10).await;
    place.store.forget_fact(place.space, id(1)).await.unwrap();
    settle(&place, &fence, call, Some(took(5, 5)), Some("canary-quokka")).await;
    assert_eq!(is_told(kit, "canary-quokka").await, Vec::<String>::new());
    assert_eq!(place.store.calls(run(1)).await.unwrap()[0].usage, Some(took(5, 5)), "it is paid for all the same");
}

pub async fn forgetting_a_fact_reaches_kept_answers(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 10).await;
    settle(&place, &fence, call, Some(took(5, 5)), Some("canary-quokka")).await;
    assert_eq!(is_told(kit, "canary-quokka").await, [kit.dialect().own("mind_answer")]);
    place.store.forget_fact(place.space, id(1)).await.unwrap();
    assert_eq!(is_told(kit, "canary-quokka").await, Vec::<String>::new());
    assert_eq!(kept(&place, place.space).await, None);
}

pub async fn whoever_lost_the_space_reserves_and_settles_nothing(kit: &dyn WorldKit) {
    let (place, late) = asked(kit).await;
    let call = granted(&place, &late, 10).await;
    let fence = place.begin(1).await;
    let is_lost = |outcome: StoreError| matches!(outcome, StoreError::LeaseLost { .. });
    assert!(is_lost(reserve(&place, &late, 1).await.unwrap_err()));
    let answer = Some((QUESTION, "late"));
    let settlement =
        Settlement { call, outcome: CallOutcome::Answered, usage: Some(took(1, 1)), problem: None, answer };
    assert!(is_lost(place.store.settle_call(&late, &settlement).await.unwrap_err()));
    assert!(is_lost(place.store.reject_answer(&late, call, "late").await.unwrap_err()));
    assert!(is_lost(place.store.count_reuse(&late, call).await.unwrap_err()));
    assert_eq!(kept(&place, place.space).await, None);
    let calls = place.store.calls(run(1)).await.unwrap();
    assert_eq!((calls.len(), calls[0].outcome, calls[0].usage), (1, CallOutcome::Reserved, None));
    assert_eq!(granted(&place, &fence, 1).await, 2);
}

pub async fn what_is_kept_of_calls_is_purged_when_it_is_old(kit: &dyn WorldKit) {
    let (place, fence) = asked(kit).await;
    let call = granted(&place, &fence, 10).await;
    settle(&place, &fence, call, Some(took(5, 5)), Some("{}")).await;
    let now = place.store.now().await.unwrap();
    let (long_ago, soon) = (now.plus_seconds(-SECONDS_PER_DAY), now.plus_seconds(60));
    assert_eq!(place.store.purge_calls(long_ago, long_ago).await.unwrap(), 0);
    assert_eq!(place.store.purge_calls(soon, long_ago).await.unwrap(), 1);
    assert_eq!(kept(&place, place.space).await, None);
    assert_eq!(place.store.calls(run(1)).await.unwrap().len(), 1);
    assert_eq!(place.store.purge_calls(soon, soon).await.unwrap(), 1);
    assert_eq!(place.store.calls(run(1)).await.unwrap(), []);
}
