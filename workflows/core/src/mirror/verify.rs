//! Whether a store and its graph say the same: a comparison fed with what the store holds, what was kept of each op, the
//! nodes and at last the edges.
//!
//! Nodes are compared both ways. Edges are compared both ways only where the tables hold edges of the namespace; elsewhere
//! the graph is looked at alone, edge by edge, and none of them is held. What an op left is compared with what was kept of it:
//! where an edge runs, and the properties that it wrote, as long as nobody wrote to the same node or edge since.
//!
//! **Invariant:** no more than a bounded number of ids is held, however large the namespace. The ids are compared range by
//! range, in their order: where a range turns out to hold too many, its upper half is left to the next pass.

mod range;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use range::IdRange;
use told::Told;

use crate::change::{Column, Row, RowKey, Table};
use crate::digest::Fingerprint;
use crate::mirror::GraphRecord;

/// Ids that are named of one kind of difference.
pub const EXAMPLES_MAX: usize = 20;

/// Ids that one pass holds: some 60 MB, and enough that most namespaces take one pass.
const IDS_HELD_MAX: usize = 500_000;

/// Edges of the graph that are asked for at once with their properties, and nodes.
pub const OWNED_PER_BATCH: usize = 1_000;

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
    /// A property that an op wrote to a node is another, and nobody says to have written it.
    NodePropertiesDiffer,
    /// A property that an op wrote to an edge is another, and nobody says to have written it.
    EdgePropertiesDiffer,
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
            Self::NodePropertiesDiffer => "node with other properties",
            Self::EdgePropertiesDiffer => "edge with other properties",
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
    /// Nodes and edges whose properties ops wrote, as far as it is kept, and nobody wrote since.
    pub properties_told: u64,
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

/// A difference, with what a repair of it has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Of which kind.
    pub difference: Difference,
    /// The node or the edge.
    pub id: Uuid,
    /// Where an edge shall run that the graph alone has.
    pub ends: Option<(Uuid, Uuid)>,
    /// Properties of which the tables still hold what an op left, by its digest.
    pub columns: BTreeMap<Column, Fingerprint>,
}

/// A comparison.
///
/// Each pass is fed with what is in [`Comparison::range`]: the tables, the records, the nodes, the edges, then the rows that
/// [`Comparison::owned`] asks for. [`Comparison::finish_pass`] says whether there is another.
#[derive(Debug)]
pub struct Comparison {
    range: IdRange,
    held_max: usize,
    is_first: bool,
    nodes: BTreeMap<Uuid, Sides>,
    edges: BTreeMap<Uuid, EdgeSides>,
    stranded: BTreeSet<Uuid>,
    told: Told,
    /// Whether the tables hold edges of the namespace.
    has_relationships: bool,
    compared: Compared,
}

impl Default for Comparison {
    fn default() -> Self {
        Self::holding(IDS_HELD_MAX)
    }
}

fn type_digest(text: &str) -> u64 {
    let digest = crate::digest::Digester::new("dream/type/1").text(text).short();
    digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Comparison {
    /// One whose passes hold so many ids.
    pub(super) fn holding(held_max: usize) -> Self {
        Self {
            range: IdRange::ALL,
            held_max,
            is_first: true,
            nodes: BTreeMap::new(),
            edges: BTreeMap::new(),
            stranded: BTreeSet::new(),
            told: Told::default(),
            has_relationships: false,
            compared: Compared::default(),
        }
    }

    /// The ids that this pass compares. What lies beyond may be left out.
    pub const fn range(&self) -> IdRange {
        self.range
    }

    /// An entity of the tables.
    pub fn entity(&mut self, id: Uuid, is_live: bool) {
        if self.range.contains(id) {
            self.nodes.entry(id).or_default().store = Some(is_live);
            self.narrow();
        }
    }

    /// A node of the graph.
    pub fn node(&mut self, id: Uuid, is_live: bool) {
        if self.range.contains(id) {
            self.nodes.entry(id).or_default().graph = Some(is_live);
            self.narrow();
        }
    }

    /// A relationship of the tables.
    pub fn relationship(&mut self, id: Uuid, ends: (Uuid, Uuid), relationship_type: &str, is_live: bool) {
        self.has_relationships = true;
        if self.range.contains(id) {
            let side = EdgeSide { ends, type_digest: type_digest(relationship_type), is_live };
            self.edges.entry(id).or_default().store = Some(side);
            self.narrow();
        }
    }

    /// What was kept of an op; later ops later.
    pub fn told(&mut self, record: &GraphRecord) {
        self.told.take(record, self.range);
        self.narrow();
    }

    /// An edge of the graph, behind the tables and the records.
    pub fn edge(&mut self, id: Uuid, ends: (Uuid, Uuid), label: &str, is_live: bool, is_stranded: bool) {
        // Those that are not held are counted as they pass, and the first pass sees all of them.
        if !self.has_relationships && self.is_first {
            self.compared.edges += u64::from(is_live);
        }
        if !self.range.contains(id) {
            return;
        }
        if is_live && is_stranded {
            self.stranded.insert(id);
        }
        if self.has_relationships || self.told.ends.contains_key(&id) {
            let side = EdgeSide { ends, type_digest: type_digest(label), is_live };
            self.edges.entry(id).or_default().graph = Some(side);
        }
        self.narrow();
    }

    /// Nodes, and the ends of edges, whose properties are to be looked at once the nodes and edges are there.
    pub fn owned(&self) -> (Vec<Uuid>, BTreeSet<(Uuid, Uuid)>) {
        self.told.owned(|edge| self.edges.get(&edge).and_then(|sides| sides.graph).map(|side| side.ends))
    }

    /// A node or an edge of the graph with its properties; answers whether one that an op wrote is another now.
    pub fn properties(&mut self, row: &Row) -> bool {
        self.told.properties(row, &mut self.compared.properties_told)
    }

    /// The same row of the tables, where they have it and [`Comparison::properties`] found a difference.
    pub fn stored(&mut self, row: &Row) {
        self.told.stored(row);
    }

    /// What the passes came to.
    pub fn finish(self) -> Compared {
        self.compared
    }

    /// Ends a pass: says of each difference which row it is about, and answers whether there is another pass.
    pub fn finish_pass(&mut self, visit: &mut dyn FnMut(Found)) -> bool {
        let held = self.nodes.len() + self.edges.len() + self.told.len();
        self.compare(visit);
        self.is_first = false;
        self.nodes.clear();
        self.edges.clear();
        self.stranded.clear();
        self.told = Told::default();
        match self.range.behind(held, self.held_max / 2) {
            Some(next) => {
                self.range = next;
                true
            }
            None => false,
        }
    }

    /// Leaves the upper half of the ids to the next pass, where there are too many.
    fn narrow(&mut self) {
        if self.nodes.len() + self.edges.len() + self.stranded.len() + self.told.len() <= self.held_max {
            return;
        }
        let held = self.nodes.keys().chain(self.edges.keys()).chain(&self.stranded).copied();
        let Some(range) = self.range.lower_half(held.chain(self.told.ids()).collect()) else { return };
        self.range = range;
        self.nodes.retain(|id, _| range.contains(*id));
        self.edges.retain(|id, _| range.contains(*id));
        self.stranded.retain(|id| range.contains(*id));
        self.told.retain(range);
    }

    fn compare(&mut self, visit: &mut dyn FnMut(Found)) {
        let mut differences = Differences { all: &mut self.compared.differences, visit };
        for (id, sides) in &self.nodes {
            self.compared.entities += u64::from(sides.store == Some(true));
            self.compared.nodes += u64::from(sides.graph == Some(true));
            if let Some(difference) = node_difference(*sides) {
                differences.add(difference, *id);
                // Of one that lives against its entity, its end is named already.
                self.told.leave_out(RowKey::entity(*id), Column::ValidUntil);
            }
        }
        self.stranded.iter().for_each(|id| differences.add(Difference::EdgeStranded, *id));
        for (id, sides) in self.edges.iter().filter(|_| self.has_relationships) {
            self.compared.relationships += u64::from(sides.store.is_some_and(|side| side.is_live));
            self.compared.edges += u64::from(sides.graph.is_some_and(|side| side.is_live));
            if let Some(difference) = edge_difference(*sides) {
                differences.add(difference, *id);
            }
        }
        self.compared.edges_told += self.told.ends.len() as u64;
        for (id, expected) in &self.told.ends {
            let sides = self.edges.get(id).copied().unwrap_or_default();
            let found = sides.graph.map(|edge| edge.ends);
            if found != *expected {
                // Where the tables have the edge, they say where it shall run.
                let is_elsewhere = found.is_some() && sides.store.is_none();
                let ends = expected.filter(|_| is_elsewhere);
                differences.found(Found { ends, ..Found::of(Difference::EdgeNotAsTold, *id) });
            }
        }
        for (key, columns) in self.told.changed() {
            let difference = match key.table {
                Table::Entities => Difference::NodePropertiesDiffer,
                _ => Difference::EdgePropertiesDiffer,
            };
            differences.found(Found { columns, ..Found::of(difference, key.id) });
        }
    }
}

impl Found {
    const fn of(difference: Difference, id: Uuid) -> Self {
        Self { difference, id, ends: None, columns: BTreeMap::new() }
    }
}

const fn node_difference(sides: Sides) -> Option<Difference> {
    match (sides.store, sides.graph) {
        (Some(true), None) => Some(Difference::NodeMissing),
        (None, Some(true)) => Some(Difference::NodeUnknown),
        (Some(false), Some(true)) => Some(Difference::NodeNotRetired),
        (Some(true), Some(false)) => Some(Difference::NodeNotLive),
        _ => None,
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

struct Differences<'c> {
    all: &'c mut BTreeMap<Difference, Differing>,
    visit: &'c mut dyn FnMut(Found),
}

impl Differences<'_> {
    fn add(&mut self, difference: Difference, id: Uuid) {
        self.found(Found::of(difference, id));
    }

    fn found(&mut self, found: Found) {
        let differing = self.all.entry(found.difference).or_default();
        differing.count += 1;
        if differing.examples.len() < EXAMPLES_MAX {
            differing.examples.push(found.id);
        }
        (self.visit)(found);
    }
}
