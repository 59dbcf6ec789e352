//! Vectors that an embedder makes, for survivors whose own are not to be averaged.
//!
//! Fetched before apply and never inside of a transaction, kept by what was asked, so that a retry does not ask twice. The
//! name goes to the embedder because that is what it embeds; nothing of it goes anywhere else.

use std::collections::BTreeMap;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use dream_core::digest::{Digester, TextKey};
use dream_core::failure::{Code, Failure};
use dream_core::id::{ContentKey, RunId};
use dream_core::op::{Decision, Intent, OpKind, OpState, Reason};
use dream_core::realm::graph::centroid::EmbeddingAnswer;
use dream_ports::plan::OpFilter;
use dream_workflows::contract::{PartDone, RunRef};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::failure::ResultExt;
use crate::world::{StoreHandle, World};

/// Names sent in one call: what common servers accept, with room to spare.
const NAMES_PER_CALL_MAX: usize = 64;

/// How long one call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of an answer that are read: 64 vectors of 4,096 numbers, spelled out.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How often a call is tried again, and how long the first pause is: seconds in all, because a night has other work.
const RETRIES_MAX: usize = 4;
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(250);

/// Calls that may fail before no more is asked. One may fail over one name; many mean that nobody is there.
const FAILED_CALLS_MAX: u32 = 3;

/// Sealed ops looked through at once.
const OPS_PER_PAGE: u32 = 1_000;

/// An endpoint that speaks as `OpenAI`'s does.
pub struct Embedder {
    client: reqwest::Client,
    url: String,
    model: String,
    key: Option<String>,
}

/// Why there is no answer.
struct Trouble {
    what: String,
    /// Whether it may pass by itself.
    is_passing: bool,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<AnswerItem>,
}

#[derive(Deserialize)]
struct AnswerItem {
    index: usize,
    embedding: Vec<f32>,
}

impl Embedder {
    /// An embedder at `base_url` (`https://host/v1`), with a model and a key if it wants one.
    pub fn new(base_url: &str, model: &str, key: Option<String>) -> Result<Self, Failure> {
        let client = reqwest::Client::builder()
            .timeout(CALL_TIMEOUT)
            .build()
            .map_err(|_| Failure::new(Code::Configuration, "the embedder's client cannot be built"))?;
        let url = format!("{}/embeddings", base_url.trim_end_matches('/'));
        Ok(Self { client, url, model: model.to_owned(), key })
    }

    /// The model it asks for.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The vectors of some names; what passes by itself is waited for.
    async fn vectors(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, Trouble> {
        let patience = ExponentialBuilder::default().with_min_delay(RETRY_PAUSE_MIN).with_max_times(RETRIES_MAX);
        (|| self.call(names)).retry(patience).when(|trouble: &Trouble| trouble.is_passing).await
    }

    async fn call(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, Trouble> {
        let unavailable = |what: &str| Trouble { what: what.to_owned(), is_passing: true };
        let useless = |what: &str| Trouble { what: what.to_owned(), is_passing: false };
        let mut request = self.client.post(&self.url).json(&json!({ "model": self.model, "input": names }));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let mut response = request.send().await.map_err(|_| unavailable("did not answer"))?;
        let status = response.status();
        if !status.is_success() {
            let is_passing = status.is_server_error() || status == reqwest::StatusCode::TOO_MANY_REQUESTS;
            return Err(Trouble { what: format!("answered with status {}", status.as_u16()), is_passing });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| unavailable("broke off its answer"))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(useless("answered with more than was asked for"));
            }
        }
        let answer: Answer = serde_json::from_slice(&bytes).map_err(|_| useless("answered in another shape"))?;
        let mut vectors: BTreeMap<usize, Vec<f32>> =
            answer.data.into_iter().map(|item| (item.index, item.embedding)).collect();
        let usable = |vector: &Vec<f32>| !vector.is_empty() && vector.iter().all(|component| component.is_finite());
        (0..names.len())
            .map(|index| vectors.remove(&index).filter(usable).ok_or_else(|| useless("left names out of its answer")))
            .collect()
    }
}

/// What an embedder is asked: a model and a name. The name is digested under the store's key.
fn question(key: &TextKey, model: &str, name: &str) -> ContentKey {
    ContentKey(Digester::new("dream/embed/1").text(model).bytes(&key.fingerprint(&[name]).0).finish())
}

/// Fetches the vectors that sealed ops wait for. Without an embedder, or where it fails, those ops are skipped when their
/// turn comes; a dream does not fail for want of a vector.
pub async fn prepare(world: &World, run: RunRef) -> Result<PartDone, Failure> {
    let (handle, id) = world.run(&run)?;
    let Some(embedder) = &world.embedder else {
        return Ok(PartDone { reason: Some(Reason::NoEmbedding), ..PartDone::default() });
    };
    let key = handle.store.text_key().await.or_fail()?;
    let (mut fetched, mut failed) = (0, 0);
    let mut after_seq = 0;
    while failed < FAILED_CALLS_MAX {
        let (wanted, last) = survivors(handle, id, after_seq, u32::MAX).await?;
        let Some(last) = last else { break };
        after_seq = last;
        let names = names(handle, wanted.values().copied()).await?;
        let questions: BTreeMap<ContentKey, &str> =
            names.values().map(|name| (question(&key, &embedder.model, name), name.as_str())).collect();
        let known = handle.store.answers(&questions.keys().copied().collect::<Vec<_>>()).await.or_fail()?;
        let open: Vec<(ContentKey, &str)> = questions
            .into_iter()
            .filter(|(question, _)| known.iter().all(|(answered, _, _)| answered != question))
            .collect();
        for open in open.chunks(NAMES_PER_CALL_MAX) {
            let names: Vec<&str> = open.iter().map(|(_, name)| *name).collect();
            match embedder.vectors(&names).await {
                Ok(vectors) => {
                    for ((question, _), vector) in open.iter().zip(vectors) {
                        handle.store.write_answer(*question, &embedder.model, &vector).await.or_fail()?;
                        fetched += 1;
                    }
                }
                Err(trouble) => {
                    failed += 1;
                    tracing::warn!(run.id = %id, "the embedder {}; what waits for it is skipped", trouble.what);
                    if failed == FAILED_CALLS_MAX {
                        break;
                    }
                }
            }
        }
    }
    let reason = (failed > 0).then_some(Reason::NoEmbedding);
    Ok(PartDone { count: fetched, reason, ..PartDone::default() })
}

/// The answers that ops up to `seq_to` need, by their content keys.
pub async fn answers(
    world: &World,
    handle: &StoreHandle,
    run: RunId,
    after_seq: u32,
    seq_to: u32,
) -> Result<BTreeMap<ContentKey, EmbeddingAnswer>, Failure> {
    let Some(embedder) = &world.embedder else { return Ok(BTreeMap::new()) };
    let key = handle.store.text_key().await.or_fail()?;
    let (wanted, _) = survivors(handle, run, after_seq, seq_to).await?;
    let names = names(handle, wanted.values().copied()).await?;
    let asked: BTreeMap<ContentKey, ContentKey> = wanted
        .into_iter()
        .filter_map(|(op, entity)| Some((op, question(&key, &embedder.model, names.get(&entity)?))))
        .collect();
    let known = handle.store.answers(&asked.values().copied().collect::<Vec<_>>()).await.or_fail()?;
    let known: BTreeMap<ContentKey, EmbeddingAnswer> =
        known.into_iter().map(|(question, model, vector)| (question, EmbeddingAnswer { vector, model })).collect();
    Ok(asked.into_iter().filter_map(|(op, question)| Some((op, known.get(&question)?.clone()))).collect())
}

/// A page of sealed ops that wait for a vector: their content keys and survivors, and the last op looked at.
async fn survivors(
    handle: &StoreHandle,
    run: RunId,
    after_seq: u32,
    seq_to: u32,
) -> Result<(BTreeMap<ContentKey, Uuid>, Option<u32>), Failure> {
    let filter = OpFilter {
        after_seq,
        limit: OPS_PER_PAGE,
        kind: Some(OpKind::CentroidRecompute),
        states: vec![OpState::Sealed],
    };
    let ops = handle.store.ops(run, &filter).await.or_fail()?;
    let last = ops.last().map(|record| record.op.seq);
    let wanted = ops
        .into_iter()
        .filter(|record| record.op.draft.decision == Decision::ReEmbed && record.op.seq <= seq_to)
        .filter_map(|record| match record.op.draft.intent {
            Intent::Centroid { entity, .. } => Some((record.op.content, entity)),
            _ => None,
        })
        .collect();
    Ok((wanted, last))
}

async fn names(handle: &StoreHandle, ids: impl Iterator<Item = Uuid>) -> Result<BTreeMap<Uuid, String>, Failure> {
    let ids: Vec<Uuid> = ids.collect();
    let names = handle.store.names(&ids).await.or_fail()?;
    Ok(names.into_iter().map(|(id, name, _)| (id, name)).collect())
}
