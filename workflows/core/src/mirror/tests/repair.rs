//! Repairs, on the graph in memory and tables beside it.

use super::*;
use crate::mirror::repair::Repairs;
use crate::mirror::verify::{Compared, Comparison, Difference};
use crate::op::{Draft, Intent};

/// What only a person can decide.
const FOR_PEOPLE: [Difference; 3] = [Difference::NodeUnknown, Difference::EdgeUnknown, Difference::EdgeStranded];

impl Model {
    fn repairs(&self, told: &[&GraphRecord]) -> (Compared, Repairs) {
        let mut comparison = Comparison::default();
        for row in self.stored.values() {
            let end = |column| row.get(column).id().unwrap_or_default();
            match row.key().table {
                Table::Entities => comparison.entity(row.id, row.is_live(AT)),
                _ => comparison.relationship(
                    row.id,
                    (end(Column::SourceEntityId), end(Column::TargetEntityId)),
                    row.get(Column::RelationshipType).text().unwrap_or_default(),
                    row.is_live(AT),
                ),
            }
        }
        told.iter().for_each(|record| comparison.told(record));
        self.nodes.values().for_each(|node| comparison.node(node.id, node.is_live(AT)));
        self.edges.values().for_each(|edge| comparison.edge(edge.row.id, edge.ends(), edge.label(), true));
        let mut repairs = Repairs::default();
        let compared = comparison.each(&mut |difference, id, ends| repairs.take(difference, id, ends));
        (compared, repairs)
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
        Intent::Repair { row, ends } => Verb::Repair { row: *row, ends: *ends },
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
