//! What a dream of Khora's did to its tables and could not do to the graph: this program tells the graph in its place.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::graph::{GraphLab, Held};
use crate::support::world::World;

/// The tables that Khora's migrations make, without rows.
const SCHEMA: &str = include_str!("../../activities/suite/fixtures/khora_postgres.sql");

/// A merge of Khora's of which the graph was not told.
struct Left {
    keep: String,
    absorbed: String,
    /// Where edges shall run.
    rewritten: BTreeMap<String, (String, String)>,
    /// Edges that shall be gone.
    loops: Vec<String>,
}

impl Left {
    /// The merge of the node with the most edges into one of its neighbours.
    fn of(held: &Held) -> Self {
        let mut edges_at: BTreeMap<&String, usize> = BTreeMap::new();
        for (source, _, target, _) in held.edges.values() {
            *edges_at.entry(source).or_default() += 1;
            *edges_at.entry(target).or_default() += 1;
        }
        let (absorbed, _) = edges_at.into_iter().max_by_key(|(_, edges)| *edges).unwrap();
        let of_it = || held.edges.iter().filter(|(_, edge)| edge.0 == *absorbed || edge.2 == *absorbed);
        let (_, (source, _, target, _)) = of_it().next().unwrap();
        let keep = if source == absorbed { target } else { source };
        let mut left =
            Self { keep: keep.clone(), absorbed: absorbed.clone(), rewritten: BTreeMap::new(), loops: Vec::new() };
        for (id, (source, _, target, _)) in of_it() {
            let map = |end: &String| if end == absorbed { keep.clone() } else { end.clone() };
            if map(source) == map(target) {
                left.loops.push(id.clone());
            } else {
                left.rewritten.insert(id.clone(), (map(source), map(target)));
            }
        }
        left
    }

    /// The entry that Khora writes.
    fn entry(&self) -> Value {
        let rewrite = |(id, (source, target)): (&String, &(String, String))| {
            json!({
                "relationship_id": id, "source_entity_id": source, "target_entity_id": target, "relationship_type": "KNOWS",
            })
        };
        json!({
            "op_seq": 0,
            "op_id": Uuid::now_v7(),
            "op_type": "vectorcypher_dedupe_entities",
            "payload": {
                "retire_entity_ids": [self.absorbed],
                "invalidate_relationship_ids": self.loops,
                "rewrite_relationships": self.rewritten.iter().map(rewrite).collect::<Vec<_>>(),
                "communities": [],
                "applied_at": "2026-03-01T03:04:05.000001+00:00",
            },
        })
    }

    /// Does what Khora does to its tables, and leaves the entry; its edges are in the graph alone.
    async fn leave(&self, database: &mut PgConnection, namespace: Uuid) {
        let table = SCHEMA.split("CREATE TABLE khora_dream_runs").nth(1).unwrap().split_once(';').unwrap().0;
        let entry = json!([self.entry()]);
        let statements = format!(
            "create table khora_dream_runs {table};
             alter table khora_dream_runs add primary key (run_id);
             update entities set valid_until = '2026-03-01T03:04:05.000001Z' where id = '{}';
             insert into khora_dream_runs (run_id, namespace_id, trigger, mode, state, started_at, heartbeat_at,
                                           graph_mirror_pending)
             values (gen_random_uuid(), '{namespace}', 'manual', 'apply', 'failed', now(), now(), '{entry}');",
            self.absorbed
        );
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(database).await.unwrap();
    }

    /// Panics unless the graph holds the merge, and nothing else of it is new.
    fn is_told(&self, before: &Held, after: &Held) {
        assert_eq!(after.versions, before.versions + 1);
        let ends = |held: &Held| -> BTreeMap<String, (String, String)> {
            held.edges
                .iter()
                .map(|(id, (source, _, target, _))| (id.clone(), (source.clone(), target.clone())))
                .collect()
        };
        let mut expected = ends(before);
        expected.retain(|id, _| !self.loops.contains(id));
        expected.extend(self.rewritten.clone());
        assert_eq!(ends(after), expected);
        let changed = before.nodes.iter().filter(|(id, properties)| after.nodes[*id] != **properties);
        assert_eq!(changed.map(|(id, _)| id).collect::<Vec<_>>(), [&self.absorbed]);
        assert!(before.nodes.contains_key(&self.keep));
    }
}

async fn pending(database: &mut PgConnection) -> Vec<String> {
    let query = "select graph_mirror_pending::text from khora_dream_runs where graph_mirror_pending is not null";
    sqlx::query_scalar(query).fetch_all(database).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reconciler_tells_the_graph_what_khora_left() {
    let lab = GraphLab::with(&World::new(60).lines()).await;
    let mut database = lab.lab.database().await;
    let before = lab.held().await;
    let left = Left::of(&before);
    left.leave(&mut database, lab.namespace).await;
    assert_eq!(lab.verify().json()["differences"]["node_not_retired"]["count"], 1);

    let reconciled = lab.lab.program.run(&["reconcile", "--json"]).expect(0).json();
    assert_eq!((&reconciled["done"], &reconciled["left"], &reconciled["missing"]), (&json!(1), &json!(0), &json!(0)));
    left.is_told(&before, &lab.held().await);
    lab.is_clean("once the graph was told");
    assert_eq!(pending(&mut database).await, ["[]"]);
    assert_eq!(lab.lab.program.run(&["reconcile"]).code, 3, "there is nothing more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_plans_on_what_khora_left_once_the_graph_knows_it() {
    let lab = GraphLab::with(&World::new(60).lines()).await;
    let mut database = lab.lab.database().await;
    let before = lab.held().await;
    let left = Left::of(&before);
    // By its row id, as a caller of Khora may name it.
    left.leave(&mut database, lab.row_id).await;
    let planned = lab.dream(&["--mode", "dry-run"]);
    assert!(!planned["skip_reasons"].to_string().contains("mirror_pending"), "{planned:#}");
    left.is_told(&before, &lab.held().await);
    lab.is_clean("before the run applies anything");
    let applied = lab.dream(&["--mode", "apply"]);
    assert!(crate::support::program::count(&applied, "applied") > 0);
    lab.is_clean("behind the run");
    lab.lab.program.run(&["undo", "--run", &crate::support::program::run_id(&applied)]).expect(0);
    left.is_told(&before, &lab.held().await);
    assert_eq!(pending(&mut database).await, ["[]"], "our own runs leave nothing there");
}
