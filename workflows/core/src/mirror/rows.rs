//! The part of a graph that a batch of verbs speaks of, as rows.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::change::{Column, Row, RowKey, Table, Value};
use crate::mirror::{GraphRecord, Telling, Verb};
use crate::rows::Rows;

/// What has to be loaded of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphNeeds {
    /// Nodes.
    pub nodes: BTreeSet<Uuid>,
    /// Nodes of which every edge is needed.
    pub edges_touching: BTreeSet<Uuid>,
    /// Ends, in their direction, between which every edge is needed.
    pub edges_between: BTreeSet<(Uuid, Uuid)>,
    /// Edges that are known by their ids alone; whoever loads finds out where they run.
    pub edges: BTreeSet<Uuid>,
    /// Edges that are looked for wherever they run, which costs a pass over the edges of the namespace.
    pub edges_anywhere: BTreeSet<Uuid>,
    /// Rows that are needed as the tables hold them; of an edge, its ends too.
    pub stored: BTreeSet<RowKey>,
}

impl GraphNeeds {
    /// What the verbs of a batch speak of by name.
    pub fn of(batch: &[Telling<'_>]) -> Self {
        let mut needs = Self::default();
        for telling in batch {
            for verb in telling.verbs {
                needs.of_verb(verb, telling.applied);
            }
        }
        needs
    }

    fn of_verb(&mut self, verb: &Verb, applied: Option<&GraphRecord>) {
        match verb {
            Verb::Merge { keep, absorbed } => {
                self.nodes.extend(absorbed.iter().chain([keep]));
                self.edges_touching.extend(absorbed);
            }
            Verb::Reabsorb { keep, absorbed, .. } => {
                self.nodes.extend([keep, absorbed]);
                self.edges_touching.insert(*absorbed);
            }
            Verb::DropReferences { row, .. } if row.table == Table::Entities => {
                self.nodes.insert(row.id);
            }
            Verb::DropReferences { row, ends, .. } => {
                self.edges.insert(row.id);
                self.edges_between.extend(ends);
            }
            Verb::Adopted { retire, invalidate, rewrite } => {
                self.nodes.extend(retire);
                self.edges_touching.extend(retire);
                self.edges.extend(invalidate);
                for rewrite in rewrite {
                    self.nodes.extend([rewrite.source, rewrite.target]);
                    self.edges.insert(rewrite.relationship);
                    // Khora may have led it there before it broke off.
                    self.edges_between.insert((rewrite.source, rewrite.target));
                }
            }
            Verb::Repair { row, ends, .. } => {
                if row.table == Table::Entities {
                    self.nodes.insert(row.id);
                } else {
                    self.edges_anywhere.insert(row.id);
                    self.nodes.extend(ends.iter().flat_map(|(source, target)| [*source, *target]));
                }
                if ends.is_none() {
                    self.stored.insert(*row);
                }
            }
            Verb::TakeBack { .. } => self.of_record(applied),
        }
    }

    /// Everything an op touched, where it stands and where it stood.
    fn of_record(&mut self, applied: Option<&GraphRecord>) {
        let Some(record) = applied else { return };
        self.nodes.extend(record.undo.keys().filter(|key| key.table == Table::Entities).map(|key| key.id));
        self.edges_between.extend(record.ends.values().flatten());
        self.nodes.extend(record.removed.iter().flat_map(|edge| [edge.source, edge.target]));
    }

    /// What is needed besides, once the edges that a batch leads over are there: those that will be parallel to them, and
    /// the nodes at their other ends, which may be missing.
    #[must_use]
    pub fn second(&self, batch: &[Telling<'_>], rows: &GraphRows) -> Self {
        let mut leads: BTreeMap<Uuid, BTreeSet<Uuid>> = BTreeMap::new();
        for verb in batch.iter().flat_map(|telling| telling.verbs) {
            match verb {
                Verb::Merge { keep, absorbed } => {
                    absorbed.iter().for_each(|absorbed| _ = leads.entry(*absorbed).or_default().insert(*keep));
                }
                Verb::Reabsorb { keep, absorbed, .. } => {
                    leads.entry(*absorbed).or_default().insert(*keep);
                }
                Verb::Adopted { rewrite, .. } => {
                    for rewrite in rewrite {
                        let Some((source, target)) = rows.edges.get(&rewrite.relationship).map(GraphEdge::ends) else {
                            continue;
                        };
                        leads.entry(source).or_default().insert(rewrite.source);
                        leads.entry(target).or_default().insert(rewrite.target);
                    }
                }
                Verb::DropReferences { .. } | Verb::Repair { .. } | Verb::TakeBack { .. } => {}
            }
        }
        let mut second = Self::default();
        for (source, target) in rows.ends() {
            // Another op of the batch may lead the same edge on, so every place on its way is looked at.
            for source in way(source, &leads) {
                second.edges_between.extend(way(target, &leads).into_iter().map(|target| (source, target)));
            }
        }
        // Every edge of a node that was asked for with its edges is there already, wherever it runs.
        let is_known = |(source, target): &(Uuid, Uuid)| {
            self.edges_touching.contains(source) || self.edges_touching.contains(target)
        };
        second.edges_between.retain(|pair| !self.edges_between.contains(pair) && !is_known(pair));
        second
    }
}

/// An end and everywhere a batch may lead it.
fn way(end: Uuid, leads: &BTreeMap<Uuid, BTreeSet<Uuid>>) -> Vec<Uuid> {
    let mut way = vec![end];
    let mut looked_at = 0;
    while let Some(end) = way.get(looked_at) {
        looked_at += 1;
        let next: Vec<Uuid> =
            leads.get(end).into_iter().flatten().filter(|next| !way.contains(next)).copied().collect();
        way.extend(next);
    }
    way
}

/// An edge, as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphEdge {
    /// Its id, ends and properties; its label is the type.
    pub row: Row,
    /// All of its properties in the adapter's own JSON, so that it can be made again.
    pub properties: String,
}

impl GraphEdge {
    /// Where it runs.
    pub fn ends(&self) -> (Uuid, Uuid) {
        let end = |column| self.row.get(column).id().unwrap_or_default();
        (end(Column::SourceEntityId), end(Column::TargetEntityId))
    }

    /// Its label.
    pub fn label(&self) -> &str {
        self.row.get(Column::RelationshipType).text().unwrap_or_default()
    }
}

/// The part of a graph that was loaded, as verbs so far have left it.
#[derive(Clone, Debug, Default)]
pub struct GraphRows {
    pub(super) rows: Rows,
    pub(super) edges: BTreeMap<Uuid, GraphEdge>,
    pub(super) gone: BTreeMap<Uuid, GraphEdge>,
    pub(super) stored: BTreeMap<RowKey, Row>,
}

impl GraphRows {
    /// Takes in a node.
    pub fn load_node(&mut self, row: Row) {
        self.rows.load(row);
    }

    /// Takes in an edge.
    pub fn load_edge(&mut self, edge: GraphEdge) {
        if !self.edges.contains_key(&edge.row.id) {
            self.rows.load(edge.row.clone());
            self.edges.insert(edge.row.id, edge);
        }
    }

    /// Takes in a row as the tables hold it.
    pub fn load_stored(&mut self, row: Row) {
        self.stored.insert(row.key(), row);
    }

    /// Edges that are loaded.
    pub fn edges_loaded(&self) -> usize {
        self.edges.len()
    }

    /// Where the loaded edges ran when they were found.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Uuid, Uuid)> {
        self.edges.values().map(GraphEdge::ends)
    }

    /// Takes in edges that an op removed, as it left them: invalidated. One that is there again is somebody's new one.
    pub(super) fn load_removed(&mut self, record: &GraphRecord) {
        for removed in &record.removed {
            if self.rows.get(RowKey::relationship(removed.id)).is_some() {
                continue;
            }
            let mut row = Row::empty(Table::Relationships, removed.id);
            for (column, cell) in &removed.cells {
                row.put(*column, cell.0.clone());
            }
            let row = row
                .with(Column::SourceEntityId, Value::Id(removed.source))
                .with(Column::TargetEntityId, Value::Id(removed.target))
                .with(Column::RelationshipType, Value::Text(removed.label.clone()))
                .with(Column::InvalidatedAt, Value::Time(record.at))
                .with(Column::InvalidatedBy, Value::Id(record.op.0));
            self.rows.load(row.clone());
            self.gone.insert(removed.id, GraphEdge { row, properties: removed.properties.clone() });
        }
    }
}
