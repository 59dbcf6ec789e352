//! A whole namespace, row by row, and import.

use std::collections::BTreeMap;

use dream_core::change::{Column, Row, Table, Value};
use dream_core::mirror::verify::IdRange;
use dream_ports::graph::Stray;
use dream_ports::{Graph, GraphError};
use uuid::Uuid;

use crate::kit::{Kit, at, kit};

const ENDED: &str = "{valid_until: datetime('2020-01-01T00:00:00Z')}";

async fn world(kit: &Kit) -> ([Uuid; 3], [Uuid; 4]) {
    let nodes = [kit.node("a").await, kit.node("b").await, kit.node("retired").await];
    let [a, b, retired] = nodes;
    kit.run("MATCH (n:Entity {name: 'retired'}) WHERE n.namespace_id = $ns SET n.valid_until = '2020-01-01T00:00:00Z'")
        .await;
    kit.run(
        "MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns SET n.valid_until = datetime('2999-01-01T00:00:00Z')",
    )
    .await;
    let chunk = format!("{{source_chunk_ids: ['{a}'], source_document_ids: ['{b}', '{a}']}}");
    let edges = [
        kit.edge("KNOWS", a, b, &chunk).await,
        kit.edge("KNOWS", b, a, ENDED).await,
        kit.edge("back`tick".replace('`', "``").as_str(), a, retired, "{}").await,
        kit.edge("KNOWS", retired, b, "{source_chunk_ids: []}").await,
    ];
    // What is no edge of Khora's, and what is not its own.
    kit.run("MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns CREATE (n)-[:SUPERSEDES]->(:EntityVersion {namespace_id: $ns})").await;
    kit.run("MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns CREATE (n)-[:KNOWS {namespace_id: $ns}]->(n)")
        .await;
    kit.run("CREATE (:Entity {id: 'somebody', namespace_id: $ns, name: 'x', entity_type: 'y'})").await;
    (nodes, edges)
}

#[tokio::test]
async fn streams_give_every_node_and_every_edge() {
    let kit = kit().await;
    assert!(!kit.graph.has_edges(kit.namespace).await.unwrap());
    let ([a, b, retired], edges) = world(&kit).await;
    assert!(kit.graph.has_edges(kit.namespace).await.unwrap());

    let mut nodes = BTreeMap::new();
    kit.graph.nodes(kit.namespace, IdRange::ALL, &mut |node| nodes.extend([(node.id, node.is_live)])).await.unwrap();
    assert_eq!(nodes, BTreeMap::from([(a, true), (b, true), (retired, false)]));

    let mut found = BTreeMap::new();
    let mut visit = |edge: dream_ports::graph::EdgeView<'_>| {
        found.insert(edge.id, (edge.source, edge.target, edge.label.to_owned(), edge.is_live, edge.is_stranded));
    };
    kit.graph.edges(kit.namespace, IdRange::ALL, &mut visit).await.unwrap();
    let expected = [
        (a, b, "KNOWS".to_owned(), true, false),
        (b, a, "KNOWS".to_owned(), false, false),
        (a, retired, "back`tick".to_owned(), true, true),
        (retired, b, "KNOWS".to_owned(), true, true),
    ];
    assert_eq!(found, edges.into_iter().zip(expected).collect());

    let mut found = Vec::new();
    let mut visit = |edge: dream_ports::graph::EdgeReferences<'_>| {
        let [documents, chunks] = [edge.source_document_ids, edge.source_chunk_ids].map(<[Uuid]>::to_vec);
        found.push((edge.id, edge.ends, edge.is_live, documents, chunks));
    };
    kit.graph.references(kit.namespace, &mut visit).await.unwrap();
    assert_eq!(found, [(edges[0], (a, b), true, vec![b, a], vec![a])]);

    let strays = kit.graph.strays(kit.namespace, 10).await.unwrap();
    assert_eq!(strays, [Stray { node: retired, edges_live: 2 }]);
    assert_eq!(kit.graph.strays(kit.namespace, 0).await.unwrap(), []);
}

#[tokio::test]
async fn a_range_of_ids_is_streamed_and_rows_are_read_where_they_are() {
    let kit = kit().await;
    let (nodes, edges) = world(&kit).await;
    for ids in [nodes.to_vec(), edges.to_vec()] {
        let mut ids = ids;
        ids.sort_unstable();
        let range = IdRange { first: ids[0], last: ids[1] };
        let mut found = Vec::new();
        kit.graph.nodes(kit.namespace, range, &mut |node| found.push(node.id)).await.unwrap();
        kit.graph.edges(kit.namespace, range, &mut |edge| found.push(edge.id)).await.unwrap();
        found.sort_unstable();
        assert_eq!(found, ids[..2]);
    }
    let [a, b, retired] = nodes;
    let mut names = Vec::new();
    let mut visit = |row: Row| names.push((row.id, row.get(Column::Name).text().map(str::to_owned)));
    kit.graph.nodes_at(kit.namespace, &[b, a, Uuid::now_v7()], &mut visit).await.unwrap();
    names.sort_unstable();
    let mut expected = vec![(a, Some("a".to_owned())), (b, Some("b".to_owned()))];
    expected.sort_unstable();
    assert_eq!(names, expected);
    let mut found = Vec::new();
    let mut visit = |row: Row| found.push((row.id, row.get(Column::SourceChunkIds).ids().to_vec()));
    kit.graph.edges_at(kit.namespace, &[(a, b), (b, retired)], &mut visit).await.unwrap();
    assert_eq!(found, [(edges[0], vec![a])]);
}

#[tokio::test]
async fn a_stream_goes_on_over_many_pages() {
    let kit = kit().await;
    kit.run("UNWIND range(1, 3500) AS i CREATE (:Entity {id: randomUUID(), namespace_id: $ns, name: 'n' + i, entity_type: 'x'})")
        .await;
    let mut count = 0;
    kit.graph.nodes(kit.namespace, IdRange::ALL, &mut |_| count += 1).await.unwrap();
    assert_eq!(count, 3500);
}

fn node(id: Uuid, name: &str) -> Row {
    Row::empty(Table::Entities, id)
        .with(Column::Name, Value::Text(name.to_owned()))
        .with(Column::EntityType, Value::Text("PERSON".to_owned()))
        .with(Column::Attributes, Value::Json("{}".to_owned()))
        .with(Column::SourceChunkIds, Value::Ids(vec![id]))
        .with(Column::MentionCount, Value::Int(3))
        .with(Column::Confidence, Value::Float(1.0))
        .with(Column::CreatedAt, Value::Time(at("2026-01-01T00:00:00Z")))
}

fn edge(id: Uuid, label: &str, source: Uuid, target: Uuid) -> Row {
    Row::empty(Table::Relationships, id)
        .with(Column::SourceEntityId, Value::Id(source))
        .with(Column::TargetEntityId, Value::Id(target))
        .with(Column::RelationshipType, Value::Text(label.to_owned()))
        .with(Column::ValidFrom, Value::Time(at("2026-01-01T00:00:00Z")))
        .with(Column::Weight, Value::Float(0.5))
}

#[tokio::test]
async fn what_is_imported_twice_is_there_once() {
    let kit = kit().await;
    let [a, b, gone] = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    let ended = node(b, "`b`").with(Column::ValidUntil, Value::Time(at("2026-02-01T00:00:00Z")));
    let edges = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    let rows = [edge(edges[0], "KNOWS", a, b), edge(edges[1], "a`b", b, a), edge(edges[2], "KNOWS", a, gone)];
    for _ in 0..2 {
        kit.graph.import_nodes(kit.namespace, &[node(a, "it's a"), ended.clone()]).await.unwrap();
        assert_eq!(kit.graph.import_edges(kit.namespace, &rows).await.unwrap(), [edges[2]]);
    }
    let text = "MATCH (a:Entity)-[r]->(b:Entity) WHERE r.namespace_id = $ns AND type(r) = 'KNOWS'
                RETURN properties(a) = {id: a.id, namespace_id: $ns, name: 'it\\'s a', entity_type: 'PERSON', attributes: '{}',
                         source_chunk_ids: [a.id], mention_count: 3, confidence: 1.0, created_at: '2026-01-01T00:00:00+00:00'}
                   AND b.valid_until = datetime('2026-02-01T00:00:00Z') AND b.version_valid_to = '2026-02-01T00:00:00+00:00'
                   AND properties(r) = {id: r.id, namespace_id: $ns, weight: 0.5, valid_from: datetime('2026-01-01T00:00:00Z')}
                   AS is_so";
    let rows = kit.rows(text).await;
    assert_eq!(rows.len(), 1);
    assert!(rows[0].get::<bool>("is_so").unwrap());
    assert_eq!(kit.nodes().await.len(), 2);
    assert_eq!(kit.edges().await.len(), 2);

    kit.graph.import_nodes(kit.namespace, &[node(b, "`b`")]).await.unwrap();
    assert_eq!(kit.count("MATCH (n:Entity) WHERE n.namespace_id = $ns AND (n.valid_until IS NOT NULL OR n.version_valid_to IS NOT NULL) RETURN count(n) AS count").await, 0);
}

#[tokio::test]
async fn a_node_of_another_namespace_is_not_taken_from_it() {
    let (kit, other) = (kit().await, kit().await);
    let theirs = other.node("theirs").await;
    let before = other.nodes().await;
    let rows = [node(Uuid::now_v7(), "mine"), node(theirs, "stolen")];
    let error = kit.graph.import_nodes(kit.namespace, &rows).await.unwrap_err();
    assert!(matches!(error, GraphError::Refused { .. }), "{error}");
    assert_eq!(other.nodes().await, before);
    assert_eq!(kit.nodes().await.len(), 0);
}
