//! A graph in memory, told of ops as a drainer tells a real one.

mod repair;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::change::{Row, Table, Value};
use crate::clock::Moment;
use crate::id::OpId;

const AT: Moment = Moment::from_micros(1_700_000_000_000_000);

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn op(number: u128) -> OpId {
    OpId(id(0xff00 + number))
}

/// Every op has a moment of its own.
fn at(op: OpId) -> Moment {
    AT.plus_seconds(i64::from(op.0.as_bytes()[15]) - 1)
}

fn node(number: u128, mentions: i64) -> Row {
    Row::empty(Table::Entities, id(number))
        .with(Column::Name, Value::Text(format!("name {number}")))
        .with(Column::EntityType, Value::Text("PERSON".to_owned()))
        .with(Column::MentionCount, Value::Int(mentions))
}

fn edge(number: u128, source: u128, target: u128, label: &str) -> GraphEdge {
    let row = Row::empty(Table::Relationships, id(number))
        .with(Column::SourceEntityId, Value::Id(id(source)))
        .with(Column::TargetEntityId, Value::Id(id(target)))
        .with(Column::RelationshipType, Value::Text(label.to_owned()))
        .with(Column::SourceChunkIds, Value::Ids(vec![id(number + 1_000)]))
        .with(Column::Weight, Value::Float(0.5));
    GraphEdge { properties: format!("all of {number}"), row }
}

thread_local! {
    /// What the properties of removed edges say, as the adapter's JSON would.
    static GONE: std::cell::RefCell<BTreeMap<Uuid, GraphEdge>> = const { std::cell::RefCell::new(BTreeMap::new()) };
}

fn gone_edge(id: Uuid) -> GraphEdge {
    GONE.with_borrow(|gone| gone[&id].clone())
}

/// A graph as a server holds it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    nodes: BTreeMap<Uuid, Row>,
    edges: BTreeMap<Uuid, GraphEdge>,
    versions: BTreeSet<(Uuid, Uuid)>,
    /// What the tables hold, where that matters.
    stored: BTreeMap<RowKey, Row>,
}

impl Model {
    fn new(nodes: impl IntoIterator<Item = Row>, edges: impl IntoIterator<Item = GraphEdge>) -> Self {
        Self {
            nodes: nodes.into_iter().map(|row| (row.id, row)).collect(),
            edges: edges.into_iter().map(|edge| (edge.row.id, edge)).collect(),
            versions: BTreeSet::new(),
            stored: BTreeMap::new(),
        }
    }

    fn load(&self, needs: &GraphNeeds, rows: &mut GraphRows) {
        for node in needs.nodes.iter().filter_map(|id| self.nodes.get(id)) {
            rows.load_node(node.clone());
        }
        for edge in self.edges.values() {
            let (source, target) = edge.ends();
            let is_needed = needs.edges_touching.contains(&source)
                || needs.edges_touching.contains(&target)
                || needs.edges_between.contains(&(source, target))
                || needs.edges.contains(&edge.row.id)
                || needs.edges_anywhere.contains(&edge.row.id);
            if is_needed {
                rows.load_edge(edge.clone());
            }
        }
    }

    /// Loads what the tables hold, with the ends of their edges, as a drainer does.
    fn with_stored(&self, mut needs: GraphNeeds, rows: &mut GraphRows) -> GraphNeeds {
        for row in needs.stored.clone().iter().filter_map(|key| self.stored.get(key)) {
            let ends = [Column::SourceEntityId, Column::TargetEntityId].map(|end| row.get(end).id());
            needs.nodes.extend(ends.into_iter().flatten());
            ends.into_iter().flatten().filter_map(|end| self.stored.get(&RowKey::entity(end))).for_each(|entity| {
                rows.load_stored(entity.clone());
            });
            rows.load_stored(row.clone());
        }
        needs
    }

    /// Tells it of ops, all in one batch; answers what was kept.
    fn tell(&mut self, kept: &BTreeMap<OpId, GraphRecord>, ops: &[(OpId, Vec<Verb>)]) -> Vec<Told> {
        let mut rows = GraphRows::default();
        let telling = |op: &OpId, verbs| Telling { op: *op, verbs, at: at(*op), applied: kept.get(op) };
        let batch: Vec<Telling<'_>> = ops.iter().map(|(op, verbs)| telling(op, verbs)).collect();
        let first = self.with_stored(GraphNeeds::of(&batch), &mut rows);
        self.load(&first, &mut rows);
        self.load(&first.second(&batch, &rows), &mut rows);
        let mut records: BTreeMap<OpId, GraphRecord> = kept.clone();
        let mut all = Vec::new();
        for (op, verbs) in ops {
            let applied = records.get(op).cloned();
            let told = tell(&mut rows, &Telling { op: *op, verbs, at: at(*op), applied: applied.as_ref() });
            records.entry(*op).or_insert_with(|| told.record.clone());
            all.push((told, applied));
        }
        let pairs: Vec<_> = all.iter().map(|(told, applied)| (&told.record, applied.as_ref())).collect();
        self.write(&GraphWrites::of(&rows, &pairs));
        all.into_iter().map(|(told, _)| told).collect()
    }

    fn write(&mut self, writes: &GraphWrites) {
        let put = |row: &mut Row, cells: &[(Column, crate::change::Cell)]| {
            for (column, cell) in cells {
                row.put(*column, cell.clone());
            }
        };
        self.nodes.extend(writes.nodes_created.iter().map(|row| (row.id, row.clone())));
        self.versions.extend(writes.versions.iter().map(|version| (version.entity, version.version)));
        for removed in &writes.edges_removed {
            let edge = self.edges.remove(&removed.id).unwrap();
            assert_eq!((edge.ends(), edge.label()), (removed.ends, removed.label.as_str()));
            GONE.with_borrow_mut(|gone| gone.insert(removed.id, edge));
        }
        for moved in &writes.edges_moved {
            let edge = self.edges.get_mut(&moved.id).unwrap();
            assert_eq!((edge.ends(), edge.label()), (moved.from, moved.label.as_str()));
            edge.row.put(Column::SourceEntityId, Value::Id(moved.to.0));
            edge.row.put(Column::TargetEntityId, Value::Id(moved.to.1));
        }
        for created in &writes.edges_created {
            let mut edge = gone_edge(created.id);
            assert_eq!(edge.properties, created.properties);
            edge.row.put(Column::RelationshipType, Value::Text(created.label.clone()));
            edge.row.put(Column::SourceEntityId, Value::Id(created.ends.0));
            edge.row.put(Column::TargetEntityId, Value::Id(created.ends.1));
            assert!(self.edges.insert(created.id, edge).is_none());
        }
        for row in &writes.edges_imported {
            let edge = GraphEdge { row: row.clone(), properties: String::new() };
            assert!(self.edges.insert(row.id, edge).is_none());
        }
        for set in &writes.edges_set {
            let edge = self.edges.get_mut(&set.id).unwrap();
            assert_eq!((edge.ends(), edge.label()), (set.ends, set.label.as_str()));
            put(&mut edge.row, &set.cells);
        }
        for set in &writes.nodes {
            put(self.nodes.get_mut(&set.entity).unwrap(), &set.cells);
        }
        for version in &writes.versions_removed {
            self.versions.remove(&(version.entity, version.version));
        }
        for removed in &writes.nodes_removed {
            let has_edges = self.edges.values().any(|edge| [edge.ends().0, edge.ends().1].contains(removed));
            assert!(has_edges || self.nodes.remove(removed).is_some());
        }
    }

    fn is_live(&self, node: u128) -> bool {
        self.nodes[&id(node)].get(Column::ValidUntil).is_null()
    }

    /// Edges at nodes that ended.
    fn stranded(&self) -> Vec<Uuid> {
        let is_over = |end: &Uuid| self.nodes.get(end).is_some_and(|row| !row.get(Column::ValidUntil).is_null());
        let at_one = |edge: &GraphEdge| is_over(&edge.ends().0) || is_over(&edge.ends().1);
        self.edges.values().filter(|edge| at_one(edge)).map(|edge| edge.row.id).collect()
    }
}

fn merge(keep: u128, absorbed: &[u128]) -> Vec<Verb> {
    vec![Verb::Merge { keep: id(keep), absorbed: absorbed.iter().map(|number| id(*number)).collect() }]
}

fn back() -> Vec<Verb> {
    vec![Verb::TakeBack { overwrite: false }]
}

fn kept(told: &[Told]) -> BTreeMap<OpId, GraphRecord> {
    told.iter().map(|told| (told.record.op, told.record.clone())).collect()
}

fn small() -> Model {
    Model::new(
        (1..=4).map(|number| node(number, 2)),
        [edge(10, 2, 3, "KNOWS"), edge(11, 1, 3, "KNOWS"), edge(12, 2, 1, "KNOWS"), edge(13, 4, 2, "LIKES")],
    )
}

#[test]
fn a_merge_leads_every_edge_over_and_retires_the_node() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2]))]);
    assert_eq!(told[0].answer, Answer::Done);
    assert!(graph.is_live(1) && !graph.is_live(2));
    assert_eq!(graph.nodes[&id(1)].get(Column::MentionCount), &Value::Int(4));
    assert_eq!(graph.stranded(), Vec::<Uuid>::new());
    let ends: Vec<_> = graph.edges.values().map(GraphEdge::ends).collect();
    assert_eq!(ends, [(id(1), id(3)), (id(4), id(1))], "the parallel one is folded, the loop is gone");
    let chunks = graph.edges[&id(11)].row.get(Column::SourceChunkIds).ids();
    assert_eq!(chunks, [id(1_011), id(1_010)], "what the folded one knew is not lost");
    assert_eq!(graph.versions.len(), 1);
}

#[test]
fn what_was_told_is_taken_back_to_the_letter_by_the_record_alone() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2]))]);
    let json = serde_json::to_string(&told[0].record).unwrap();
    let record: GraphRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(record, told[0].record);
    graph.tell(&BTreeMap::from([(op(1), record)]), &[(op(1), back())]);
    assert_eq!(graph, small());
}

#[test]
fn evidence_that_came_to_a_moved_edge_survives_the_undo() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2]))]);
    let moved = graph.edges.get_mut(&id(13)).unwrap();
    moved.row.put(Column::SourceChunkIds, Value::Ids(vec![id(1_013), id(77)]));
    graph.tell(&kept(&told), &[(op(1), back())]);
    assert_eq!(graph.edges[&id(13)].ends(), (id(4), id(2)));
    assert_eq!(graph.edges[&id(13)].row.get(Column::SourceChunkIds).ids(), [id(1_013), id(77)]);
}

#[test]
fn a_batch_may_carry_out_and_take_back_the_same_op() {
    let mut graph = small();
    graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2])), (op(1), back())]);
    assert_eq!(graph, small());
}

#[test]
fn an_edge_between_two_merges_of_one_batch_is_led_over_at_both_ends() {
    let mut graph =
        Model::new((1..=4).map(|number| node(number, 1)), [edge(10, 2, 4, "KNOWS"), edge(11, 1, 3, "KNOWS")]);
    graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2])), (op(2), merge(3, &[4]))]);
    assert_eq!(graph.edges.keys().copied().collect::<Vec<_>>(), [id(11)], "they are one now");
}

#[test]
fn what_is_not_in_the_graph_is_said_and_the_rest_is_done() {
    let mut graph = Model::new([node(1, 1), node(2, 1)], [edge(10, 2, 9, "KNOWS")]);
    let told = graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2, 3])), (op(2), merge(8, &[9]))]);
    assert_eq!([told[0].answer, told[1].answer], [Answer::Missing, Answer::Missing]);
    assert!(!graph.is_live(2));
    assert_eq!(graph.edges[&id(10)].ends(), (id(1), id(9)));
}

#[test]
fn a_node_that_had_ended_already_gives_no_mentions_twice() {
    let mut graph = Model::new([node(1, 2), node(2, 5).with(Column::ValidUntil, Value::Time(AT))], []);
    graph.tell(&BTreeMap::new(), &[(op(1), merge(1, &[2]))]);
    assert_eq!(graph.nodes[&id(1)].get(Column::MentionCount), &Value::Int(2));
}

#[test]
fn references_go_from_nodes_and_edges_and_come_back() {
    let mut graph = small();
    let row = RowKey::relationship(id(10));
    let verbs = vec![Verb::DropReferences { row, chunks: vec![id(1_010)], ends: vec![(id(2), id(3))] }];
    let told = graph.tell(&BTreeMap::new(), &[(op(1), verbs)]);
    assert!(graph.edges[&id(10)].row.get(Column::SourceChunkIds).ids().is_empty());
    graph.tell(&kept(&told), &[(op(1), back())]);
    assert_eq!(graph, small());
}

#[test]
fn undo_of_an_op_that_was_never_told_changes_nothing() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(1), back())]);
    assert_eq!((told[0].answer, graph), (Answer::Already, small()));
}

fn row(op: OpId, verbs: &[Verb], is_parked: bool) -> Waiting {
    Waiting { op, ids: verbs.iter().flat_map(Verb::ids).collect(), is_parked }
}

#[test]
fn a_row_that_is_set_aside_holds_back_what_builds_on_it_and_nothing_else() {
    let (first, second, third) = (merge(1, &[2]), merge(2, &[3]), merge(8, &[9]));
    let undo = back();
    let rows = [
        row(op(1), &first, true),
        row(op(2), &second, false),
        row(op(3), &third, false),
        row(op(1), &undo, false),
        row(op(3), &undo, false),
    ];
    assert_eq!(ready(&rows), [2, 4]);
}

#[test]
fn references_of_an_edge_wait_for_a_merge_of_its_end_that_was_set_aside() {
    let drop = Verb::DropReferences {
        row: RowKey::relationship(id(10)),
        chunks: vec![id(1_010)],
        ends: vec![(id(2), id(3)), (id(1), id(3))],
    };
    let rows = [row(op(1), &merge(1, &[2]), true), row(op(2), &[drop], false)];
    assert_eq!(ready(&rows), [] as [usize; 0]);
}

/// What Khora leaves of a merge of 2 into 1 in the small graph.
fn adopted() -> Vec<Verb> {
    let rewrite = |relationship, source, target| Rewrite {
        relationship: id(relationship),
        source: id(source),
        target: id(target),
    };
    vec![Verb::Adopted {
        retire: vec![id(2)],
        invalidate: vec![id(12)],
        rewrite: vec![rewrite(10, 1, 3), rewrite(13, 4, 1)],
    }]
}

#[test]
fn what_khora_left_is_done_as_khora_does_it() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(1), adopted())]);
    assert_eq!(told[0].answer, Answer::Done);
    assert!(graph.is_live(1) && !graph.is_live(2));
    assert_eq!(graph.nodes[&id(1)].get(Column::MentionCount), &Value::Int(2), "nothing is added to the survivor");
    let ends: Vec<_> = graph.edges.iter().map(|(edge, row)| (*edge, row.ends())).collect();
    let parallel = (id(1), id(3));
    assert_eq!(ends, [(id(10), parallel), (id(11), parallel), (id(13), (id(4), id(1)))], "only the loop is gone");
    assert_eq!((graph.stranded(), graph.versions.len()), (Vec::new(), 1));
    let moved = [id(10), id(11)].map(|edge| graph.edges[&edge].row.get(Column::UpdatedAt).clone());
    assert_eq!(moved, [Value::Time(AT), Value::Null]);

    let after = graph.clone();
    let again = graph.tell(&BTreeMap::new(), &[(op(2), adopted())]);
    assert_eq!((again[0].answer, &graph), (Answer::Missing, &after), "the loop is not there any more");

    let json = serde_json::to_string(&told[0].record).unwrap();
    let record: GraphRecord = serde_json::from_str(&json).unwrap();
    graph.tell(&BTreeMap::from([(op(1), record)]), &[(op(1), back())]);
    assert_eq!(graph, small());
}

#[test]
fn what_khora_had_done_before_it_broke_off_is_found_and_left() {
    let mut whole = small();
    whole.tell(&BTreeMap::new(), &[(op(1), adopted())]);
    let mut half = small();
    for (edge, source, target) in [(10, 1, 3), (13, 4, 1)] {
        let row = &mut half.edges.get_mut(&id(edge)).unwrap().row;
        row.put(Column::SourceEntityId, Value::Id(id(source)));
        row.put(Column::TargetEntityId, Value::Id(id(target)));
        row.put(Column::UpdatedAt, Value::Time(AT));
    }
    let over = Value::Time(Moment::from_micros(1));
    half.edges.get_mut(&id(12)).unwrap().row.put(Column::ValidUntil, over.clone());
    let told = half.tell(&BTreeMap::new(), &[(op(1), adopted())]);
    assert_eq!(told[0].answer, Answer::Done);
    assert_eq!(half.edges.remove(&id(12)).unwrap().row.get(Column::ValidUntil), &over, "it had ended already");
    assert_eq!(half, whole);
    assert_eq!(
        half.tell(
            &BTreeMap::new(),
            &[(op(2), vec![Verb::Adopted { retire: vec![id(2)], invalidate: Vec::new(), rewrite: Vec::new() }])]
        )[0]
        .answer,
        Answer::Already,
        "a node that has an end keeps it"
    );
}

#[test]
fn of_what_khora_left_the_graph_may_lack_something() {
    let mut graph = small();
    let rewrite = |relationship, source, target| Rewrite { relationship: id(relationship), source, target };
    let rewrite = vec![rewrite(10, id(1), id(99)), rewrite(98, id(1), id(3)), rewrite(13, id(4), id(1))];
    let verb = Verb::Adopted { retire: vec![id(2), id(97)], invalidate: vec![id(96)], rewrite };
    let told = graph.tell(&BTreeMap::new(), &[(op(1), vec![verb])]);
    assert_eq!(told[0].answer, Answer::Missing);
    assert_eq!(graph.edges[&id(10)].ends(), (id(2), id(3)), "an edge needs both of its ends");
    assert_eq!(graph.edges[&id(13)].ends(), (id(4), id(1)));
    assert!(!graph.is_live(2));
    let none = Verb::Adopted { retire: vec![id(97)], invalidate: Vec::new(), rewrite: Vec::new() };
    assert_eq!(graph.tell(&BTreeMap::new(), &[(op(2), vec![none])])[0].answer, Answer::Missing);
}

#[test]
fn a_merge_behind_what_khora_left_sees_what_it_will_be_parallel_to() {
    let world =
        || Model::new((1..=4).map(|number| node(number, 1)), [edge(10, 2, 3, "KNOWS"), edge(11, 4, 3, "KNOWS")]);
    let rewrite = vec![Rewrite { relationship: id(10), source: id(1), target: id(3) }];
    let verb = Verb::Adopted { retire: vec![id(2)], invalidate: Vec::new(), rewrite };
    let ops = [(op(1), vec![verb]), (op(2), merge(4, &[1]))];
    let (mut together, mut alone) = (world(), world());
    together.tell(&BTreeMap::new(), &ops);
    for op in &ops {
        alone.tell(&BTreeMap::new(), std::slice::from_ref(op));
    }
    assert_eq!(together, alone);
    assert_eq!(together.edges.keys().copied().collect::<Vec<_>>(), [id(11)]);
}

prop_compose! {
    fn any_graph()(
        ended in prop::collection::vec(any::<bool>(), 6),
        edges in prop::collection::vec((0..6_u128, 0..6_u128, 0..2_usize), 0..14),
    ) -> Model {
        let nodes = ended.iter().enumerate().map(|(number, ended)| {
            let row = node(number as u128 + 1, 1);
            if *ended { row.with(Column::ValidUntil, Value::Time(Moment::from_micros(1))) } else { row }
        });
        let edges = edges.into_iter().enumerate().map(|(at, (source, target, label))| {
            edge(100 + at as u128, source + 1, target + 1, ["KNOWS", "LIKES"][label])
        });
        Model::new(nodes, edges)
    }
}

proptest! {
    #[test]
    fn any_ops_in_any_batches_taken_back_newest_first_leave_the_graph_as_it_was(
        graph in any_graph(),
        merges in prop::collection::vec((1..7_u128, 1..7_u128), 1..5),
        together in any::<bool>(),
    ) {
        let mut told_graph = graph.clone();
        let ops: Vec<_> = merges
            .iter()
            .filter(|(keep, absorbed)| keep != absorbed)
            .enumerate()
            .map(|(at, (keep, absorbed))| (op(at as u128), merge(*keep, &[*absorbed])))
            .collect();
        let told = if together {
            told_graph.tell(&BTreeMap::new(), &ops)
        } else {
            ops.iter().flat_map(|op| told_graph.tell(&BTreeMap::new(), std::slice::from_ref(op))).collect()
        };
        let mut alone = graph.clone();
        for op in &ops {
            alone.tell(&BTreeMap::new(), std::slice::from_ref(op));
        }
        prop_assert_eq!(&told_graph, &alone, "one batch does what many do");
        let kept = kept(&told);
        let undo: Vec<_> = ops.iter().rev().map(|(op, _)| (*op, back())).collect();
        if together {
            told_graph.tell(&kept, &undo);
        } else {
            for op in &undo {
                told_graph.tell(&kept, std::slice::from_ref(op));
            }
        }
        prop_assert_eq!(told_graph, graph);
    }
}
