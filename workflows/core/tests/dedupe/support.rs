//! Small worlds for the dedupe tests: rows, edges and vectors that are easy to write and to read.

use dream_core::realm::graph::dedupe::{
    Claim, DedupePlan, DedupePlanner, DedupeSettings, EmbeddingState, EntityInput, KeptApartReason, Support,
};
use uuid::Uuid;

/// One entity of a world.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) mentions: i64,
    pub(crate) created_at_us: i64,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) model: &'static str,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) chunks: Vec<Uuid>,
    pub(crate) in_scope: bool,
    pub(crate) verdict_key: Option<[u8; 16]>,
}

/// A world that can be planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) rows: Vec<Row>,
    pub(crate) edges: Vec<(Uuid, Uuid, String)>,
    pub(crate) verdicts: Vec<([u8; 16], [u8; 16])>,
    pub(crate) claims: Vec<(Uuid, Claim)>,
    pub(crate) settings: DedupeSettings,
}

pub(crate) fn id(number: usize) -> Uuid {
    Uuid::from_u128(number as u128)
}

/// A unit vector that has the cosine `cosine` with [`axis`].
pub(crate) fn at_cosine(cosine: f32) -> Vec<f32> {
    vec![cosine, (1.0 - cosine * cosine).sqrt(), 0.0, 0.0]
}

/// The vector that the others are measured against.
pub(crate) fn axis() -> Vec<f32> {
    vec![1.0, 0.0, 0.0, 0.0]
}

impl World {
    /// A world of named entities of one type, numbered from 1.
    pub(crate) fn of(entity_type: &str, names: &[&str]) -> Self {
        names.iter().fold(Self::default(), |world, name| world.entity(name, entity_type))
    }

    /// One entity more.
    #[must_use]
    pub(crate) fn entity(mut self, name: &str, entity_type: &str) -> Self {
        let number = self.rows.len() + 1;
        self.rows.push(Row {
            id: id(number),
            name: name.to_owned(),
            entity_type: entity_type.to_owned(),
            mentions: 1,
            created_at_us: 0,
            vector: None,
            model: "model",
            attributes: Vec::new(),
            chunks: Vec::new(),
            in_scope: true,
            verdict_key: None,
        });
        self
    }

    /// Changes the entity that a number names.
    #[must_use]
    pub(crate) fn with(mut self, number: usize, change: impl FnOnce(&mut Row)) -> Self {
        change(&mut self.rows[number - 1]);
        self
    }

    /// Gives each entity a vector, in order.
    #[must_use]
    pub(crate) fn vectors(mut self, vectors: &[Vec<f32>]) -> Self {
        for (row, vector) in self.rows.iter_mut().zip(vectors) {
            row.vector = Some(vector.clone());
        }
        self
    }

    /// An edge.
    #[must_use]
    pub(crate) fn edge(mut self, source: usize, target: usize, relationship_type: &str) -> Self {
        self.edges.push((id(source), id(target), relationship_type.to_owned()));
        self
    }

    /// Plans the world in the order of its rows.
    pub(crate) fn plan(&self) -> DedupePlan {
        let mut planner = DedupePlanner::new(self.settings.clone());
        for (source, target, relationship_type) in &self.edges {
            planner.feed_edge(*source, *target, relationship_type);
        }
        for row in &self.rows {
            feed(&mut planner, row);
        }
        for (one, other) in &self.verdicts {
            planner.feed_keep_apart(*one, *other);
        }
        for (id, claim) in &self.claims {
            planner.feed_claimed(*id, *claim);
        }
        let mut scorer = planner.propose().expect("the world is sound");
        let needed = scorer.need_vectors().to_vec();
        for row in self.rows.iter().filter(|row| needed.contains(&row.id)) {
            scorer.feed_vector(row.id, row.vector.as_deref().unwrap_or_default());
        }
        scorer.finish()
    }
}

fn feed(planner: &mut DedupePlanner, row: &Row) {
    let attributes: Vec<(&str, &str)> =
        row.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let embedding = row.vector.as_ref().map_or(EmbeddingState::Absent, |vector| EmbeddingState::Present {
        model: row.model,
        dimension: u32::try_from(vector.len()).unwrap_or(u32::MAX),
    });
    planner.feed_entity(&EntityInput {
        id: row.id,
        name: &row.name,
        entity_type: &row.entity_type,
        mention_count: row.mentions,
        created_at_us: row.created_at_us,
        embedding,
        attributes: &attributes,
        source_chunk_ids: &row.chunks,
        in_scope: row.in_scope,
        verdict_key: row.verdict_key,
    });
}

/// The clusters of a plan as numbers, sorted: `[[1, 2], [4, 5, 6]]`.
pub(crate) fn clusters(plan: &DedupePlan) -> Vec<Vec<u128>> {
    let mut clusters: Vec<Vec<u128>> = plan
        .merges
        .iter()
        .map(|merge| {
            let mut members: Vec<u128> = merge.absorb.iter().chain([&merge.keep]).map(Uuid::as_u128).collect();
            members.sort_unstable();
            members
        })
        .collect();
    clusters.sort();
    clusters
}

/// The pairs of a plan that stay two for a reason, as numbers.
pub(crate) fn kept_apart(plan: &DedupePlan, reason: KeptApartReason) -> Vec<(u128, u128)> {
    let kept = plan.kept_apart.iter().filter(|kept| kept.reason == reason);
    kept.map(|kept| (kept.evidence.left.as_u128(), kept.evidence.right.as_u128())).collect()
}

/// What a plan says about its first two entities, in one line.
pub(crate) fn outcome(plan: &DedupePlan) -> String {
    let of_pair = |left: Uuid, right: Uuid| (left, right) == (id(1), id(2));
    let merged = plan.merges.iter().flat_map(|merge| &merge.pairs).find(|pair| of_pair(pair.left, pair.right));
    if let Some(pair) = merged {
        return format!("merge: {}", word(&pair.rule));
    }
    match plan.kept_apart.iter().find(|kept| of_pair(kept.evidence.left, kept.evidence.right)) {
        Some(kept) if kept.evidence.vetoes.is_empty() => {
            let missing = match kept.evidence.missing.as_slice() {
                [] => "",
                [Support::CosineAtThreshold] => ", a cosine is missing",
                _ => ", a cosine or context is missing",
            };
            format!("two: {}, {}{missing}", word(&kept.reason), word(&kept.evidence.names.relation))
        }
        Some(kept) => {
            let vetoes: Vec<String> = kept.evidence.vetoes.iter().map(word).collect();
            format!("two: {}", vetoes.join(" and "))
        }
        None => "two: nothing alike".to_owned(),
    }
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_owned()
}
