//! Merges of a made-up graph, from a seed: the nodes and edges they speak of, and what a drainer would write.
//!
//! Each merge has a survivor and an absorbed node. From the survivor one edge runs to the next survivor; from the absorbed
//! node one runs beside it, which is folded into it, and one elsewhere, which is led over. No merge touches what another
//! one changes, so that they can be carried out in any batches.

use std::ops::Range;

use dream_core::algo::stable_hash::hash_number;
use dream_core::change::{Column, Row, Table, Value};
use dream_core::id::{NamespaceId, OpId};
use dream_core::mirror::{GraphEdge, GraphRows, GraphWrites, Telling, Verb, tell};
use uuid::Uuid;

use super::super::world::{moment, sentence};

/// Edges of one merge.
pub(super) const EDGES: u64 = 3;

/// The labels of the edges.
const PARALLEL: &str = "KNOWS";
const LED_OVER: &str = "LIKES";

/// How many survivors further the edge runs that is led over.
const FURTHER: u64 = 7;

/// So many merges in a namespace. Ids depend on the namespace, for a server knows each only once.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Merges {
    pub(in super::super) namespace: NamespaceId,
    pub(in super::super) count: u64,
}

/// What an id names: the ids of each kind are a sequence of their own.
#[derive(Clone, Copy)]
enum Kind {
    Survivor = 1,
    Absorbed,
    Edge,
    Op,
    Source,
}

impl Merges {
    fn id(self, kind: Kind, number: u64) -> Uuid {
        let (high, low) = self.namespace.0.as_u64_pair();
        let kind = kind as u64;
        Uuid::from_u64_pair(hash_number(high.wrapping_add(kind), number), hash_number(low.wrapping_add(kind), number))
    }

    /// The op of a merge.
    pub(in super::super) fn op(self, number: u64) -> OpId {
        OpId(self.id(Kind::Op, number))
    }

    /// What the graph must be told of it.
    pub(in super::super) fn verbs(self, number: u64) -> [Verb; 1] {
        let (keep, absorbed) = (self.id(Kind::Survivor, number), vec![self.id(Kind::Absorbed, number)]);
        [Verb::Merge { keep, absorbed }]
    }

    /// The nodes of some merges.
    pub(super) fn nodes(self, numbers: Range<u64>) -> Vec<Row> {
        numbers.flat_map(|number| [self.node(Kind::Survivor, number), self.node(Kind::Absorbed, number)]).collect()
    }

    fn node(self, kind: Kind, number: u64) -> Row {
        let place = number * 2 + kind as u64;
        let text = sentence(place);
        let name: Vec<&str> = text.split(' ').take(2).collect();
        Row::empty(Table::Entities, self.id(kind, number))
            .with(Column::Name, Value::Text(name.join(" ")))
            .with(Column::EntityType, Value::Text("PERSON".to_owned()))
            .with(Column::Description, Value::Text(text))
            .with(Column::Attributes, Value::Json("{}".to_owned()))
            .with(Column::SourceDocumentIds, Value::Ids(vec![self.id(Kind::Source, number / 20)]))
            .with(Column::SourceChunkIds, Value::Ids(vec![self.id(Kind::Source, place)]))
            .with(Column::MentionCount, Value::Int(2))
            .with(Column::Confidence, Value::Float(0.9))
            .with(Column::Metadata, Value::Json("{}".to_owned()))
            .with(Column::CreatedAt, Value::Time(moment(number)))
            .with(Column::UpdatedAt, Value::Time(moment(number)))
    }

    /// The edges of some merges.
    pub(super) fn edges(self, numbers: Range<u64>) -> Vec<Row> {
        numbers.flat_map(|number| self.edges_of(number)).collect()
    }

    fn edges_of(self, number: u64) -> [Row; 3] {
        let survivor = |further| self.id(Kind::Survivor, (number + further) % self.count);
        let absorbed = self.id(Kind::Absorbed, number);
        [
            self.edge(number * EDGES, (survivor(0), survivor(1)), PARALLEL),
            self.edge(number * EDGES + 1, (absorbed, survivor(1)), PARALLEL),
            self.edge(number * EDGES + 2, (absorbed, survivor(FURTHER)), LED_OVER),
        ]
    }

    fn edge(self, number: u64, (source, target): (Uuid, Uuid), label: &str) -> Row {
        Row::empty(Table::Relationships, self.id(Kind::Edge, number))
            .with(Column::SourceEntityId, Value::Id(source))
            .with(Column::TargetEntityId, Value::Id(target))
            .with(Column::RelationshipType, Value::Text(label.to_owned()))
            .with(Column::Description, Value::Text(sentence(number)))
            .with(Column::Properties, Value::Json("{}".to_owned()))
            .with(Column::SourceDocumentIds, Value::Ids(vec![self.id(Kind::Source, number / 20)]))
            .with(Column::SourceChunkIds, Value::Ids(vec![self.id(Kind::Source, number)]))
            .with(Column::Confidence, Value::Float(0.8))
            .with(Column::Weight, Value::Float(1.0))
            .with(Column::CreatedAt, Value::Time(moment(number)))
            .with(Column::UpdatedAt, Value::Time(moment(number)))
    }

    /// What some merges write to the graph, decided as a drainer decides it.
    pub(super) fn writes(self, numbers: Range<u64>) -> GraphWrites {
        let mut rows = GraphRows::default();
        self.nodes(numbers.clone()).into_iter().for_each(|row| rows.load_node(row));
        for row in self.edges(numbers.clone()) {
            // Nothing of an edge is made again here.
            rows.load_edge(GraphEdge { row, properties: String::new() });
        }
        let told: Vec<_> = numbers
            .map(|number| {
                let verbs = self.verbs(number);
                tell(&mut rows, &Telling { op: self.op(number), verbs: &verbs, at: moment(number), applied: None })
            })
            .collect();
        let records: Vec<_> = told.iter().map(|told| (&told.record, None)).collect();
        GraphWrites::of(&rows, &records)
    }
}
