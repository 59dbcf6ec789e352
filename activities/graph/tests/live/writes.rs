//! Writes, one kind at a time.

use dream_core::change::{Cell, Column, Value};
use dream_core::mirror::{EdgeCreate, EdgeMove, EdgeRemove, EdgeSet, GraphWrites, NodeSet, VersionWrite};
use uuid::Uuid;

use crate::kit::{Kit, at, kit};

/// What a statement must not be ended, or misled, by.
const LABELS: [&str; 7] = [
    "WORKS_AT",
    "back`tick",
    "``",
    "it's \"so\"; // --",
    "größer als ☃ 木",
    r"a\u0060]->(b) DETACH DELETE a //",
    r"\\u005C $rows {x: 1} 'LABEL' `LABEL`",
];

async fn named_edge(kit: &Kit, label: &str, source: Uuid, target: Uuid) -> Uuid {
    let id = Uuid::now_v7();
    let text = "MATCH (a:Entity {id: $id[1]}), (b:Entity {id: $id[2]})
                CREATE (a)-[r:$($id[3]) {id: $id[0], namespace_id: $ns, weight: 0.5, day: date('2026-01-01')}]->(b)";
    let ids = [id, source, target].map(|id| id.to_string()).into_iter().chain([label.to_owned()]).collect::<Vec<_>>();
    kit.run_with(text, "id", ids).await;
    id
}

/// Where each edge runs, by id.
async fn ways(kit: &Kit) -> Vec<(String, String, String, String)> {
    let text = "MATCH (a)-[r]->(b) WHERE r.namespace_id = $ns
                RETURN r.id AS id, type(r) AS label, a.id AS source, b.id AS target ORDER BY id";
    let field = |row: &neo4rs::Row, name: &str| row.get::<String>(name).unwrap();
    let rows = kit.rows(text).await;
    rows.iter().map(|row| (field(row, "id"), field(row, "label"), field(row, "source"), field(row, "target"))).collect()
}

fn way(id: Uuid, label: &str, (source, target): (Uuid, Uuid)) -> (String, String, String, String) {
    (id.to_string(), label.to_owned(), source.to_string(), target.to_string())
}

#[tokio::test]
async fn an_edge_that_is_moved_keeps_its_id_its_label_and_its_properties() {
    let kit = kit().await;
    let [a, b, c] = [kit.node("a").await, kit.node("b").await, kit.node("c").await];
    let mut edges = Vec::new();
    for label in LABELS {
        edges.push((named_edge(&kit, label, a, b).await, label));
    }
    let before = kit.edges().await;

    let moved = |(id, label): &(Uuid, &str), from, to| EdgeMove { id: *id, label: (*label).to_owned(), from, to };
    let there = edges.iter().map(|edge| moved(edge, (a, b), (b, c))).collect();
    kit.write(&GraphWrites { edges_moved: there, ..GraphWrites::default() }).await;
    assert_eq!(kit.edges().await, before);
    let expected: Vec<_> = edges.iter().map(|(id, label)| way(*id, label, (b, c))).collect();
    assert_eq!(ways(&kit).await, expected);

    // One that was moved already is not where it was, so that a second time changes nothing.
    let there = edges.iter().map(|edge| moved(edge, (a, b), (b, c))).collect();
    kit.write(&GraphWrites { edges_moved: there, ..GraphWrites::default() }).await;
    assert_eq!(ways(&kit).await, expected);
}

#[tokio::test]
async fn an_edge_that_is_moved_takes_its_changes_along() {
    let kit = kit().await;
    let [a, b, c] = [kit.node("a").await, kit.node("b").await, kit.node("c").await];
    let id = kit.edge("KNOWS", a, b, "{weight: 0.5, metadata: '{}', mine: 1}").await;
    let label = "KNOWS".to_owned();
    let edges_moved = vec![EdgeMove { id, label: label.clone(), from: (a, b), to: (c, b) }];
    let cells = vec![(Column::Weight, Value::Float(0.75).into()), (Column::Metadata, Value::Null.into())];
    let edges_set = vec![EdgeSet { id, label, ends: (c, b), cells }];
    kit.write(&GraphWrites { edges_moved, edges_set, ..GraphWrites::default() }).await;
    assert_eq!(ways(&kit).await, [way(id, "KNOWS", (c, b))]);
    let text = "MATCH ()-[r]->() WHERE r.namespace_id = $ns
                RETURN properties(r) = {id: r.id, namespace_id: $ns, weight: 0.75, mine: 1} AS is_edge";
    assert!(kit.rows(text).await[0].get::<bool>("is_edge").unwrap());
}

#[tokio::test]
async fn an_edge_whose_new_end_is_gone_stays_where_it_is() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("b").await];
    let id = kit.edge("KNOWS", a, b, "{}").await;
    let moved = EdgeMove { id, label: "KNOWS".to_owned(), from: (a, b), to: (a, Uuid::now_v7()) };
    kit.write(&GraphWrites { edges_moved: vec![moved], ..GraphWrites::default() }).await;
    assert_eq!(ways(&kit).await, [way(id, "KNOWS", (a, b))]);
}

#[tokio::test]
async fn edges_go_by_their_ends_and_come_again_once() {
    let kit = kit().await;
    let ends = (kit.node("a").await, kit.node("b").await);
    let ids = {
        let mut ids = Vec::new();
        for label in LABELS {
            ids.push((named_edge(&kit, label, ends.0, ends.1).await, label.to_owned()));
        }
        ids
    };
    let backwards = (ends.1, ends.0);
    let removed = |ends| ids.iter().map(|(id, label)| EdgeRemove { id: *id, label: label.clone(), ends }).collect();
    kit.write(&GraphWrites { edges_removed: removed(backwards), ..GraphWrites::default() }).await;
    assert_eq!(ways(&kit).await.len(), LABELS.len());
    kit.write(&GraphWrites { edges_removed: removed(ends), ..GraphWrites::default() }).await;
    assert_eq!(ways(&kit).await.len(), 0);

    let properties = |id: Uuid| {
        let namespace = kit.namespace;
        format!(
            r#"{{"id":{{"text":"{id}"}},"namespace_id":{{"text":"{namespace}"}},"x":{{"float":"nan:7ff8000000000000"}}}}"#
        )
    };
    let create = |(id, label): &(Uuid, String)| EdgeCreate {
        id: *id,
        label: label.clone(),
        ends: backwards,
        properties: properties(*id),
    };
    let created = GraphWrites { edges_created: ids.iter().map(create).collect(), ..GraphWrites::default() };
    kit.write(&created).await;
    kit.write(&created).await;
    let expected: Vec<_> = ids.iter().map(|(id, label)| way(*id, label, backwards)).collect();
    assert_eq!(ways(&kit).await, expected);
    let nan = "MATCH ()-[r]->() WHERE r.namespace_id = $ns AND isNaN(r.x) RETURN count(r) AS count";
    assert_eq!(kit.count(nan).await, i64::try_from(LABELS.len()).unwrap());
}

#[tokio::test]
async fn only_what_is_given_is_set_and_null_takes_a_property_away() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("it's `b` \\u0060").await];
    let id = kit.edge("KNOWS", a, b, "{weight: 0.5, metadata: '{}', mine: 1}").await;
    let chunk = Uuid::now_v7();
    let cells = vec![
        (Column::Weight, Cell::default()),
        (Column::SourceChunkIds, Value::Ids(vec![chunk]).into()),
        (Column::UpdatedAt, Value::Time(at("2026-06-01T00:00:00Z")).into()),
        // What no graph holds is left out.
        (Column::ValidTo, Value::Time(at("2026-06-01T00:00:00Z")).into()),
    ];
    let edges_set = vec![EdgeSet { id, label: "KNOWS".to_owned(), ends: (a, b), cells }];
    let until = vec![(Column::ValidUntil, Value::Time(at("2026-06-01T00:00:00.25Z")).into())];
    let nodes = vec![NodeSet { entity: b, cells: until }];
    kit.write(&GraphWrites { edges_set, nodes, ..GraphWrites::default() }).await;

    let text = "MATCH (a)-[r]->(b) WHERE r.namespace_id = $ns
                RETURN properties(r) = {id: r.id, namespace_id: $ns, metadata: '{}', mine: 1, source_chunk_ids: r.source_chunk_ids,
                                        updated_at: '2026-06-01T00:00:00+00:00'} AS is_edge,
                       r.source_chunk_ids AS chunks,
                       b.valid_until = datetime('2026-06-01T00:00:00.25Z') AS is_ended,
                       b.version_valid_to AS to, b.name AS name";
    let rows = kit.rows(text).await;
    assert!(rows[0].get::<bool>("is_edge").unwrap());
    assert_eq!(rows[0].get::<Vec<String>>("chunks").unwrap(), [chunk.to_string()]);
    assert!(rows[0].get::<bool>("is_ended").unwrap());
    assert_eq!(rows[0].get::<String>("to").unwrap(), "2026-06-01T00:00:00.250000+00:00");
    assert_eq!(rows[0].get::<String>("name").unwrap(), "it's `b` \\u0060");

    let nodes = vec![NodeSet { entity: b, cells: vec![(Column::ValidUntil, Cell::default())] }];
    kit.write(&GraphWrites { nodes, ..GraphWrites::default() }).await;
    let ended =
        "MATCH (b:Entity) WHERE b.namespace_id = $ns AND (b.valid_until IS NOT NULL OR b.version_valid_to IS NOT NULL)
                 RETURN count(b) AS count";
    assert_eq!(kit.count(ended).await, 0);
}

#[tokio::test]
async fn a_node_of_another_namespace_is_not_written_to() {
    let (kit, other) = (kit().await, kit().await);
    let theirs = other.node("theirs").await;
    let until = vec![(Column::ValidUntil, Value::Time(at("2026-06-01T00:00:00Z")).into())];
    let nodes = vec![NodeSet { entity: theirs, cells: until }];
    let versions = vec![VersionWrite { entity: theirs, version: Uuid::now_v7(), at: at("2026-06-01T00:00:00Z") }];
    let before = other.nodes().await;
    kit.write(&GraphWrites { nodes, versions, ..GraphWrites::default() }).await;
    assert_eq!(other.nodes().await, before);
    assert_eq!(other.count("MATCH (v:EntityVersion) WHERE v.namespace_id = $ns RETURN count(v) AS count").await, 0);
}

#[tokio::test]
async fn a_copy_of_a_node_is_made_once_and_goes_again() {
    let kit = kit().await;
    let entity = kit.node("Ada").await;
    kit.run("MATCH (n:Entity) WHERE n.namespace_id = $ns SET n.span = duration('P1D'), n.confidence = 0.5").await;
    let version = VersionWrite { entity, version: Uuid::now_v7(), at: at("2026-06-01T00:00:00Z") };
    let until = vec![(Column::ValidUntil, Value::Time(version.at).into())];
    let nodes = vec![NodeSet { entity, cells: until }];
    let writes = GraphWrites { versions: vec![version], nodes, ..GraphWrites::default() };
    kit.write(&writes).await;
    kit.write(&writes).await;

    let text = "MATCH (n:Entity)-[s:SUPERSEDES]->(v:EntityVersion) WHERE n.namespace_id = $ns
                RETURN count(v) AS count, collect(properties(s))[0] = {superseded_at: $at, reason: 'dream_consolidated'} AS is_edge,
                       collect(properties(v))[0] = {id: v_id, namespace_id: $ns, name: 'Ada', entity_type: 'CONCEPT',
                         span: duration('P1D'), confidence: 0.5, version_valid_from: $at, version_valid_to: $at,
                         retirement_reason: 'dream_consolidated'} AS is_copy";
    let text = text.replace("$at", "'2026-06-01T00:00:00+00:00'").replace("v_id", &format!("'{}'", version.version));
    let rows = kit.rows(&text).await;
    assert_eq!(rows[0].get::<i64>("count").unwrap(), 1);
    assert!(rows[0].get::<bool>("is_edge").unwrap());
    assert!(rows[0].get::<bool>("is_copy").unwrap());

    kit.write(&GraphWrites { versions_removed: vec![version], ..GraphWrites::default() }).await;
    assert_eq!(kit.count("MATCH (v:EntityVersion) WHERE v.namespace_id = $ns RETURN count(v) AS count").await, 0);
    assert_eq!(kit.nodes().await.len(), 1);
}
