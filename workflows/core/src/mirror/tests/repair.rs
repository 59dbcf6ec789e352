//! Repairs, on the graph in memory and tables beside it.

use super::*;
use crate::mirror::repair::Repairs;
use crate::mirror::verify::{Compared, Comparison, Difference};
use crate::op::{Draft, Intent};

/// What only a person can decide.
const FOR_PEOPLE: [Difference; 3] = [Difference::NodeUnknown, Difference::EdgeUnknown, Difference::EdgeStranded];

impl Model {
    fn repairs(&self, told: &[&GraphRecord]) -> (Compared, Repairs) {
        self.repairs_in(Comparison::default(), told)
    }

    fn repairs_in(&self, mut comparison: Comparison, told: &[&GraphRecord]) -> (Compared, Repairs) {
        let mut repairs = Repairs::default();
        let mut passes = 0;
        loop {
            self.feed(&mut comparison, told);
            passes += 1;
            assert!(passes < 1_000, "every pass leaves less to the next");
            if !comparison.finish_pass(&mut |found| repairs.take(found)) {
                return (comparison.finish(), repairs);
            }
        }
    }

    fn feed(&self, comparison: &mut Comparison, told: &[&GraphRecord]) {
        let end = |row: &Row, column| row.get(column).id().unwrap_or_default();
        for row in self.stored.values() {
            match row.key().table {
                Table::Entities => comparison.entity(row.id, row.is_live(AT)),
                _ => comparison.relationship(
                    row.id,
                    (end(row, Column::SourceEntityId), end(row, Column::TargetEntityId)),
                    row.get(Column::RelationshipType).text().unwrap_or_default(),
                    row.is_live(AT),
                ),
            }
        }
        told.iter().for_each(|record| comparison.told(record));
        self.nodes.values().for_each(|node| comparison.node(node.id, node.is_live(AT)));
        for edge in self.edges.values() {
            let (source, target) = edge.ends();
            let is_stranded = [source, target].iter().any(|end| !self.nodes[end].is_live(AT));
            comparison.edge(edge.row.id, (source, target), edge.label(), true, is_stranded);
        }
        let (nodes, ends) = comparison.owned();
        let nodes = nodes.iter().filter_map(|id| self.nodes.get(id));
        let edges = self.edges.values().filter(|edge| ends.contains(&edge.ends())).map(|edge| &edge.row);
        for row in nodes.chain(edges) {
            if comparison.properties(row)
                && let Some(stored) = self.stored.get(&row.key())
            {
                comparison.stored(stored);
            }
        }
    }

    /// Stores what the graph holds.
    fn stored(mut self) -> Self {
        let nodes = self.nodes.values().cloned();
        let edges = self.edges.values().map(|edge| edge.row.clone());
        self.stored = nodes.chain(edges).map(|row| (row.key(), row)).collect();
        self
    }
}

fn ops(drafts: &[Draft]) -> Vec<(OpId, Vec<Verb>)> {
    let verb = |draft: &Draft| match &draft.intent {
        Intent::Repair { row, ends, columns } => Verb::Repair { row: *row, ends: *ends, columns: columns.clone() },
        other => panic!("{other:?}"),
    };
    drafts.iter().enumerate().map(|(at, draft)| (op(1 + at as u128), vec![verb(draft)])).collect()
}

#[test]
fn an_edge_that_was_led_elsewhere_goes_back_to_where_an_op_left_it() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(9), merge(1, &[2]))]);
    let after = graph.clone();
    graph.edges.get_mut(&id(13)).unwrap().row.put(Column::TargetEntityId, Value::Id(id(3)));
    let (compared, repairs) = graph.repairs(&[&told[0].record]);
    assert_eq!(compared.differences[&Difference::EdgeNotAsTold].examples, [id(13)]);
    graph.tell(&BTreeMap::new(), &ops(&repairs.drafts));
    assert_eq!(graph, after);
}

#[test]
fn an_edge_that_is_gone_is_left_to_people() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(9), merge(1, &[2]))]);
    graph.edges.remove(&id(13));
    let (_, repairs) = graph.repairs(&[&told[0].record]);
    assert_eq!((repairs.drafts, repairs.left[&Difference::EdgeNotAsTold]), (Vec::new(), 1));
}

/// A small graph that was told of a merge, with tables that say the same of its nodes.
fn merged() -> (Model, GraphRecord) {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(0), merge(1, &[2]))]);
    graph.stored = graph.nodes.values().map(|row| (row.key(), row.clone())).collect();
    (graph, told[0].record.clone())
}

#[test]
fn a_property_that_an_op_wrote_goes_back_to_what_it_left() {
    let (sound, record) = merged();
    assert!(sound.repairs(&[&record]).0.differences.is_empty());
    assert!(sound.repairs(&[&record]).0.properties_told >= 2, "the survivor and the absorbed");
    let mut graph = sound.clone();
    graph.nodes.get_mut(&id(1)).unwrap().put(Column::MentionCount, Value::Int(77));
    graph.nodes.get_mut(&id(2)).unwrap().put(Column::ValidUntil, Value::Time(Moment::from_micros(1)));
    let (compared, repairs) = graph.repairs(&[&record]);
    assert_eq!(compared.differences[&Difference::NodePropertiesDiffer].examples, [id(1), id(2)]);
    graph.tell(&BTreeMap::new(), &ops(&repairs.drafts));
    assert_eq!(graph, sound);
}

#[test]
fn a_property_that_somebody_says_to_have_written_is_theirs() {
    let (mut graph, record) = merged();
    let node = graph.nodes.get_mut(&id(1)).unwrap();
    node.put(Column::MentionCount, Value::Int(77));
    node.put(Column::UpdatedAt, Value::Time(AT.plus_seconds(1_000)));
    assert!(graph.repairs(&[&record]).0.differences.is_empty());
}

#[test]
fn a_property_of_which_the_tables_hold_something_else_is_left_to_people() {
    let (mut graph, record) = merged();
    graph.stored.get_mut(&RowKey::entity(id(1))).unwrap().put(Column::MentionCount, Value::Int(5));
    assert!(graph.repairs(&[&record]).0.differences.is_empty(), "the two need not count the same");
    graph.nodes.get_mut(&id(1)).unwrap().put(Column::MentionCount, Value::Int(77));
    let (_, repairs) = graph.repairs(&[&record]);
    assert_eq!((repairs.drafts, repairs.left[&Difference::NodePropertiesDiffer]), (Vec::new(), 1));
}

#[test]
fn a_node_that_lives_against_its_entity_is_named_once() {
    let (mut graph, record) = merged();
    graph.nodes.get_mut(&id(2)).unwrap().put(Column::ValidUntil, Value::Null);
    let kinds: Vec<_> = graph.repairs(&[&record]).0.differences.into_keys().collect();
    assert!(kinds.contains(&Difference::NodeNotRetired) && !kinds.contains(&Difference::NodePropertiesDiffer));
}

#[test]
fn an_op_that_is_taken_back_under_a_later_one_says_how_it_left_the_graph() {
    let mut graph = small();
    for node in graph.nodes.values_mut() {
        node.put(Column::SourceChunkIds, Value::Ids(vec![node.id]));
    }
    let ops = [(op(1), merge(1, &[2])), (op(2), merge(1, &[3]))];
    let told = graph.tell(&BTreeMap::new(), &ops);
    let undone = graph.tell(&kept(&told), &[(op(1), back())]);
    let later = &told[1].record;
    assert!(
        graph.repairs(&[later]).0.differences.contains_key(&Difference::NodePropertiesDiffer),
        "by itself it is news"
    );
    let left = undone[0].record.clone().digests();
    assert!(left.undo.changes.iter().all(|change| change.columns.values().all(|cell| cell.before.value.is_null())));
    let kinds: Vec<_> = graph.repairs(&[later, &left]).0.differences.into_keys().collect();
    assert!(!kinds.contains(&Difference::NodePropertiesDiffer), "{kinds:?}");
}

#[test]
fn a_property_of_an_edge_is_looked_at_where_it_runs() {
    let mut graph = small();
    let told = graph.tell(&BTreeMap::new(), &[(op(9), merge(1, &[2]))]);
    let edge = *told[0].record.ends.keys().find(|edge| graph.edges.contains_key(edge)).unwrap();
    let columns = &told[0].record.undo.changes.iter().find(|change| change.key.id == edge).unwrap().columns;
    let (column, before) = columns
        .iter()
        .find(|(column, _)| **column == Column::SourceChunkIds)
        .unwrap_or_else(|| panic!("the merge folds an edge: {:?}", columns.keys()));
    graph.edges.get_mut(&edge).unwrap().row.put(*column, before.before.clone());
    let (compared, _) = graph.repairs(&[&told[0].record]);
    assert_eq!(compared.differences[&Difference::EdgePropertiesDiffer].examples, [edge]);
}

#[test]
fn a_node_that_was_made_and_has_an_edge_by_now_stays() {
    let mut graph = Model::new([node(2, 1)], []);
    graph.stored.insert(RowKey::entity(id(1)), node(1, 1));
    let (_, repairs) = graph.repairs(&[]);
    let told = graph.tell(&BTreeMap::new(), &ops(&repairs.drafts));
    graph.edges.insert(id(10), edge(10, 1, 2, "KNOWS"));
    graph.tell(&kept(&told), &[(op(1), back())]);
    assert!(graph.nodes.contains_key(&id(1)) && graph.edges.contains_key(&id(10)));
}

proptest! {
    #[test]
    fn in_passes_however_small_the_same_differs(
        graph in any_graph(),
        tables in any_graph(),
        merges in prop::collection::vec((1..7_u128, 1..7_u128), 0..4),
        with_tables in any::<bool>(),
        held_max in 1..40_usize,
    ) {
        let mut graph = if with_tables { Model { stored: tables.stored().stored, ..graph } } else { graph };
        let merges = merges.iter().filter(|(keep, absorbed)| keep != absorbed).enumerate();
        let ops: Vec<_> = merges.map(|(at, (keep, absorbed))| (op(at as u128), merge(*keep, &[*absorbed]))).collect();
        let told = graph.tell(&BTreeMap::new(), &ops);
        for node in graph.nodes.values_mut().step_by(2) {
            node.put(Column::MentionCount, Value::Int(77));
        }
        let records: Vec<&GraphRecord> = told.iter().map(|told| &told.record).collect();
        let (whole, whole_repairs) = graph.repairs(&records);
        let (parts, part_repairs) = graph.repairs_in(Comparison::holding(held_max), &records);
        prop_assert_eq!(whole, parts);
        let sorted = |repairs: Repairs| {
            let mut intents: Vec<String> = repairs.drafts.iter().map(|draft| format!("{:?}", draft.intent)).collect();
            intents.sort();
            (intents, repairs.left)
        };
        prop_assert_eq!(sorted(whole_repairs), sorted(part_repairs));
    }

    #[test]
    fn whatever_differs_is_repaired_and_given_back(
        graph in any_graph(),
        tables in any_graph(),
        together in any::<bool>(),
    ) {
        let tables = tables.stored();
        let start = Model { stored: tables.stored, ..graph };
        let mut graph = start.clone();
        let (_, repairs) = graph.repairs(&[]);
        let ops = ops(&repairs.drafts);
        let told = if together {
            graph.tell(&BTreeMap::new(), &ops)
        } else {
            ops.iter().flat_map(|op| graph.tell(&BTreeMap::new(), std::slice::from_ref(op))).collect()
        };
        prop_assert!(told.iter().all(|told| told.answer != Answer::Missing));
        let (compared, again) = graph.repairs(&[]);
        prop_assert_eq!(again.drafts, Vec::new());
        prop_assert!(compared.differences.keys().all(|kind| FOR_PEOPLE.contains(kind)), "{:?}", compared.differences);
        for (op, verbs) in &ops {
            let twice = graph.tell(&BTreeMap::new(), &[(OpId(Uuid::new_v5(&op.0, b"again")), verbs.clone())]);
            prop_assert_eq!(twice[0].answer, Answer::Already);
        }
        let kept = kept(&told);
        for (op, _) in ops.iter().rev() {
            graph.tell(&kept, &[(*op, back())]);
        }
        prop_assert_eq!(graph.edges.keys().collect::<Vec<_>>(), start.edges.keys().collect::<Vec<_>>());
        for (edge, found) in &graph.edges {
            prop_assert_eq!(&found.row, &start.edges[edge].row);
        }
        prop_assert_eq!(&graph.nodes, &start.nodes);
        prop_assert_eq!(&graph.versions, &start.versions);
    }
}
