//! The gate: who may come in, how many at once, how often, and for how long.
//!
//! A key opens one space, and everything behind the gate is about that one. Whoever comes with keys that open nothing is told
//! to wait, by its address; whoever comes from there with a key that opens is not: many may stand behind one address.
//!
//! **Invariant:** a call that passes carries a [`Caller`]; there is no other way to get one.

#![expect(clippy::result_large_err, reason = "a refusal is made once, and ends its call")]

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use dream_activities::space::memory::space_of_key;
use dream_core::id::NamespaceId;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use tokio::sync::Semaphore;

use super::problem::Problem;
use crate::face::{Face, Refusal};

/// Calls at once. Each holds a connection to the store for a moment, and a body in memory at most.
const CALLS_AT_ONCE_MAX: usize = 64;

/// Calls of one space per second, over time. An agent that lives on a space makes a few per sentence.
const CALLS_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("twenty is not zero");

/// Calls of one space at once, after a pause: an agent that fills a space fact by fact.
const CALLS_IN_A_BURST: NonZeroU32 = NonZeroU32::new(200).expect("two hundred is not zero");

/// Keys that open nothing, per address and second, and at once: somebody mistypes a few times.
const BAD_KEYS_PER_SECOND: NonZeroU32 = NonZeroU32::new(1).expect("one is not zero");
const BAD_KEYS_IN_A_BURST: NonZeroU32 = NonZeroU32::new(20).expect("twenty is not zero");

/// Addresses that are told apart; those beyond count as one. An entry has some dozens of bytes.
const ADDRESSES_MAX: usize = 10_000;

/// How long a call may take with everything: a submitted answer is waited for up to half a minute.
const CALL_WITHIN: Duration = Duration::from_mins(1);

/// After so many calls the limiter forgets the spaces that have been quiet, so that it does not grow with all there ever were.
const CALLS_BETWEEN_CLEANING: u32 = 10_000;

/// Longest key that is looked at: ours have 70 characters.
const KEY_BYTES_MAX: usize = 200;

/// Who calls: a face, and the space that the key opens.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) face: Face,
    pub(crate) space: NamespaceId,
}

/// The gate of one face.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Kept>);

struct Kept {
    face: Face,
    at_once: Semaphore,
    rates: DefaultKeyedRateLimiter<NamespaceId>,
    calls: AtomicU32,
    bad_keys: DefaultKeyedRateLimiter<IpAddr>,
}

impl Gate {
    pub(crate) fn new(face: Face) -> Self {
        let quota = Quota::per_second(CALLS_PER_SECOND).allow_burst(CALLS_IN_A_BURST);
        Self(Arc::new(Kept {
            face,
            at_once: Semaphore::new(CALLS_AT_ONCE_MAX),
            rates: RateLimiter::keyed(quota),
            calls: AtomicU32::new(0),
            bad_keys: RateLimiter::keyed(Quota::per_second(BAD_KEYS_PER_SECOND).allow_burst(BAD_KEYS_IN_A_BURST)),
        }))
    }

    /// Puts the gate before these routes.
    pub(crate) fn keep(&self, routes: Router) -> Router {
        routes.layer(from_fn_with_state(self.clone(), pass))
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let refused = Problem::keyless;
        let said = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).ok_or_else(refused)?;
        let (scheme, key) = said.split_once(' ').ok_or_else(refused)?;
        if !scheme.eq_ignore_ascii_case("bearer") || key.len() > KEY_BYTES_MAX {
            return Err(refused());
        }
        let face = self.0.face.clone();
        let store = face.handle().map_err(Refusal::from)?.store.clone();
        let space = space_of_key(store.as_ref(), key.trim()).await.map_err(Refusal::from)?.ok_or_else(refused)?;
        Ok(Caller { face, space })
    }

    fn check_rate(&self, space: NamespaceId) -> Result<(), Problem> {
        if self.0.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(CALLS_BETWEEN_CLEANING) {
            self.0.rates.retain_recent();
        }
        self.0.rates.check_key(&space).map_err(|until| too_often(&until, "the space is asked too often"))
    }

    /// What whoever comes without a key that opens is told.
    fn refuse(&self, problem: Problem, address: Option<IpAddr>) -> Problem {
        let Some(address) = address.filter(|_| problem.is_keyless()) else { return problem };
        let bad_keys = &self.0.bad_keys;
        if bad_keys.len() >= ADDRESSES_MAX {
            bad_keys.retain_recent();
        }
        let is_room = bad_keys.len() < ADDRESSES_MAX;
        let address = if is_room { address } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        bad_keys.check_key(&address).err().map_or(problem, |until| too_often(&until, "too many keys that open nothing"))
    }
}

fn too_often(until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>, detail: &str) -> Problem {
    let seconds = until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
    Problem::of(StatusCode::TOO_MANY_REQUESTS, detail).after(seconds)
}

async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let Ok(_permit) = gate.0.at_once.try_acquire() else {
        return Problem::of(StatusCode::SERVICE_UNAVAILABLE, "too many calls at once").after(1).into_response();
    };
    let answered = tokio::time::timeout(CALL_WITHIN, come_in(&gate, request, next));
    let mut response = answered.await.unwrap_or_else(|_| {
        Problem::of(StatusCode::SERVICE_UNAVAILABLE, "the call took too long").after(1).into_response()
    });
    // Memories are nobody's to keep on the way.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn come_in(gate: &Gate, mut request: Request, next: Next) -> Response {
    let caller = match gate.caller(request.headers()).await {
        Ok(caller) => caller,
        Err(problem) => {
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
            return gate.refuse(problem, peer).into_response();
        }
    };
    if let Err(problem) = gate.check_rate(caller.space) {
        return problem.into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}
