//! Whether a store and its graph say the same: a comparison fed with what the store holds, what was kept of each op, the
//! nodes and at last the edges.
//!
//! Nodes are compared both ways. Edges are compared both ways only where the tables hold edges of the namespace; elsewhere
//! the graph is looked at alone, edge by edge, and none of them is held. What an op left is compared with what was kept of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::mirror::GraphRecord;

/// Ids that are named of one kind of difference.
pub const EXAMPLES_MAX: usize = 20;

/// How a store and its graph differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// A live entity has no node.
    NodeMissing,
    /// A live node has no entity.
    NodeUnknown,
    /// An entity is retired and its node is not.
    NodeNotRetired,
    /// A node is retired and its entity is not.
    NodeNotLive,
    /// A live edge hangs on a retired node.
    EdgeStranded,
    /// A live relationship has no edge.
    EdgeMissing,
    /// A live edge has no relationship.
    EdgeUnknown,
    /// An edge and its relationship run between different entities.
    EdgeEndsDiffer,
    /// An edge and its relationship have different types.
    EdgeTypeDiffers,
    /// A relationship is retired and its edge is not.
    EdgeNotRetired,
    /// An edge that an op led over is elsewhere, or gone.
    EdgeNotAsTold,
}

impl Difference {
    /// What it says, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::NodeMissing => "entity without a node",
            Self::NodeUnknown => "node without an entity",
            Self::NodeNotRetired => "entity retired, node live",
            Self::NodeNotLive => "entity live, node retired",
            Self::EdgeStranded => "live edge on a retired node",
            Self::EdgeMissing => "relationship without an edge",
            Self::EdgeUnknown => "edge without a relationship",
            Self::EdgeEndsDiffer => "edge with other ends",
            Self::EdgeTypeDiffers => "edge of another type",
            Self::EdgeNotRetired => "relationship retired, edge live",
            Self::EdgeNotAsTold => "edge not as an op left it",
        }
    }
}

/// One kind of difference, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differing {
    /// How many.
    pub count: u64,
    /// The first of them, by id.
    pub examples: Vec<Uuid>,
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// Live entities.
    pub entities: u64,
    /// Live nodes.
    pub nodes: u64,
    /// Live relationships of the tables.
    pub relationships: u64,
    /// Live edges of the graph.
    pub edges: u64,
    /// Edges that ops led over, as far as it is kept.
    pub edges_told: u64,
    /// How they differ.
    pub differences: BTreeMap<Difference, Differing>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sides {
    store: Option<bool>,
    graph: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EdgeSide {
    ends: (Uuid, Uuid),
    /// A digest of its type: types repeat, and millions of edges must fit.
    type_digest: u64,
    is_live: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct EdgeSides {
    store: Option<EdgeSide>,
    graph: Option<EdgeSide>,
}

/// A comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    nodes: BTreeMap<Uuid, Sides>,
    edges: BTreeMap<Uuid, EdgeSides>,
    told: BTreeMap<Uuid, Option<(Uuid, Uuid)>>,
    /// Whether the tables hold edges of the namespace.
    has_relationships: bool,
    /// Live edges that were looked at and are not held.
    edges_passed: u64,
    stranded: BTreeSet<Uuid>,
}

fn type_digest(text: &str) -> u64 {
    let digest = crate::digest::Digester::new("dream/type/1").text(text).short();
    digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Comparison {
    /// An entity of the tables.
    pub fn entity(&mut self, id: Uuid, is_live: bool) {
        self.nodes.entry(id).or_default().store = Some(is_live);
    }

    /// A node of the graph.
    pub fn node(&mut self, id: Uuid, is_live: bool) {
        self.nodes.entry(id).or_default().graph = Some(is_live);
    }

    /// A relationship of the tables.
    pub fn relationship(&mut self, id: Uuid, ends: (Uuid, Uuid), relationship_type: &str, is_live: bool) {
        let side = EdgeSide { ends, type_digest: type_digest(relationship_type), is_live };
        self.edges.entry(id).or_default().store = Some(side);
        self.has_relationships = true;
    }

    /// An edge of the graph, behind everything else.
    pub fn edge(&mut self, id: Uuid, ends: (Uuid, Uuid), label: &str, is_live: bool) {
        let retired = |end: &Uuid| self.nodes.get(end).is_some_and(|sides| sides.graph == Some(false));
        if is_live && (retired(&ends.0) || retired(&ends.1)) {
            self.stranded.insert(id);
        }
        if self.has_relationships || self.told.contains_key(&id) {
            let side = EdgeSide { ends, type_digest: type_digest(label), is_live };
            self.edges.entry(id).or_default().graph = Some(side);
        } else {
            self.edges_passed += u64::from(is_live);
        }
    }

    /// What was kept of an op; later ops later.
    pub fn told(&mut self, record: &GraphRecord) {
        for (edge, [_, after]) in &record.ends {
            let is_gone = record.removed.iter().any(|removed| removed.id == *edge);
            self.told.insert(*edge, (!is_gone).then_some(*after));
        }
    }

    /// How the two differ.
    pub fn finish(self) -> Compared {
        self.each(&mut |_, _, _| {})
    }

    /// How the two differ, saying of each difference which row it is about, and of an edge that the graph alone has where
    /// it shall run.
    pub fn each(self, visit: &mut dyn FnMut(Difference, Uuid, Option<(Uuid, Uuid)>)) -> Compared {
        let mut compared = Compared { edges_told: self.told.len() as u64, ..Compared::default() };
        let mut differences = Differences { all: BTreeMap::new(), visit };
        for (id, sides) in &self.nodes {
            compared.entities += u64::from(sides.store == Some(true));
            compared.nodes += u64::from(sides.graph == Some(true));
            let difference = match (sides.store, sides.graph) {
                (Some(true), None) => Difference::NodeMissing,
                (None, Some(true)) => Difference::NodeUnknown,
                (Some(false), Some(true)) => Difference::NodeNotRetired,
                (Some(true), Some(false)) => Difference::NodeNotLive,
                _ => continue,
            };
            differences.add(difference, *id, None);
        }
        self.stranded.iter().for_each(|id| differences.add(Difference::EdgeStranded, *id, None));
        compared.edges = self.edges_passed;
        for (id, sides) in &self.edges {
            compared.relationships += u64::from(sides.store.is_some_and(|side| side.is_live));
            compared.edges += u64::from(sides.graph.is_some_and(|side| side.is_live));
            if self.has_relationships
                && let Some(difference) = edge_difference(*sides)
            {
                differences.add(difference, *id, None);
            }
        }
        for (id, expected) in &self.told {
            let found = self.edges.get(id).and_then(|sides| sides.graph).map(|edge| edge.ends);
            if found != *expected {
                // Where the tables have the edge, they say where it shall run.
                let is_elsewhere = found.is_some() && self.edges.get(id).is_some_and(|sides| sides.store.is_none());
                differences.add(Difference::EdgeNotAsTold, *id, expected.filter(|_| is_elsewhere));
            }
        }
        compared.differences = differences.all;
        compared
    }
}

fn edge_difference(sides: EdgeSides) -> Option<Difference> {
    match (sides.store, sides.graph) {
        (Some(store), None) if store.is_live => Some(Difference::EdgeMissing),
        (None, Some(graph)) if graph.is_live => Some(Difference::EdgeUnknown),
        (Some(store), Some(graph)) if store.is_live && store.ends != graph.ends => Some(Difference::EdgeEndsDiffer),
        (Some(store), Some(graph)) if store.is_live && store.type_digest != graph.type_digest => {
            Some(Difference::EdgeTypeDiffers)
        }
        (Some(store), Some(graph)) if !store.is_live && graph.is_live => Some(Difference::EdgeNotRetired),
        _ => None,
    }
}

struct Differences<'v> {
    all: BTreeMap<Difference, Differing>,
    visit: &'v mut dyn FnMut(Difference, Uuid, Option<(Uuid, Uuid)>),
}

impl Differences<'_> {
    fn add(&mut self, difference: Difference, id: Uuid, ends: Option<(Uuid, Uuid)>) {
        (self.visit)(difference, id, ends);
        let differing = self.all.entry(difference).or_default();
        differing.count += 1;
        if differing.examples.len() < EXAMPLES_MAX {
            differing.examples.push(id);
        }
    }
}
