//! A lab with a graph database, and a look at what the graph holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use dream_core::run::DreamInput;
use neo4rs::{BoltType, Graph, Query};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::lab::{Lab, STORE, variable};
use crate::support::program::Answer;

/// A lab whose store is mirrored.
pub struct GraphLab {
    pub lab: Lab,
    /// The namespace, by its stable id.
    pub namespace: Uuid,
    /// The namespace, by its row id, as the graph knows it.
    pub row_id: Uuid,
    driver: Graph,
    server: Option<Server>,
}

/// What a graph holds of a namespace: everything but ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Properties by id.
    pub nodes: BTreeMap<String, String>,
    /// Source, label, target and properties by id.
    pub edges: BTreeMap<String, (String, String, String, String)>,
    /// Copies of retired nodes.
    pub versions: usize,
}

impl Held {
    /// What is otherwise there, by ids alone: content is large.
    pub fn other_than(&self, other: &Self) -> Vec<String> {
        let nodes: BTreeSet<&String> = self.nodes.keys().chain(other.nodes.keys()).collect();
        let nodes = nodes.into_iter().filter(|id| self.nodes.get(*id) != other.nodes.get(*id));
        let edges: BTreeSet<&String> = self.edges.keys().chain(other.edges.keys()).collect();
        let edges = edges.into_iter().filter(|id| self.edges.get(*id) != other.edges.get(*id));
        let versions = (self.versions != other.versions).then(|| format!("versions: {}", self.versions));
        let others = nodes.map(|id| format!("node {id}")).chain(edges.map(|id| format!("edge {id}"))).chain(versions);
        others.take(OTHERS_SHOWN_MAX).collect()
    }
}

/// Differences that are named.
const OTHERS_SHOWN_MAX: usize = 10;

impl GraphLab {
    /// On the server that all tests share.
    pub async fn with(lines: &str) -> Self {
        let login = (variable("DREAM_TEST_NEO4J_USER"), variable("DREAM_TEST_NEO4J_PASSWORD"));
        Self::on(lines, &[], &variable("DREAM_TEST_NEO4J_URL"), &login, None).await
    }

    /// The same, with edges in the tables and none in the graph.
    pub async fn with_edges_in_tables(lines: &str) -> Self {
        let login = (variable("DREAM_TEST_NEO4J_USER"), variable("DREAM_TEST_NEO4J_PASSWORD"));
        Self::on(lines, &["--edges", "sql"], &variable("DREAM_TEST_NEO4J_URL"), &login, None).await
    }

    /// On a server of its own, which may be disturbed.
    pub async fn with_own_server(lines: &str) -> Self {
        let server = Server::start();
        let login = ("neo4j".to_owned(), server.password.clone());
        Self::on(lines, &[], &server.url.clone(), &login, Some(server)).await
    }

    /// Over a graph that Khora made: a server of its own over a copy of that data folder. The store is the caller's to fill.
    pub async fn of_khora(folder: &Path, namespace: Uuid) -> Self {
        let server = Server::start();
        server.disturb("stop");
        let data = server.state.join("neo4j/data");
        std::fs::remove_dir_all(&data).unwrap();
        let copied = Command::new("cp").arg("-r").arg(folder.join("data")).arg(&data).status().unwrap();
        assert!(copied.success());
        server.disturb("start");
        let login = ("neo4j".to_owned(), server.password.clone());
        let mut lab = Self::on("", &[], &server.url.clone(), &login, Some(server)).await;
        lab.namespace = namespace;
        let row_id = lab.rows("MATCH (n:Entity) RETURN DISTINCT [n.namespace_id] AS row").await;
        lab.row_id = row_id[0][0].parse().unwrap();
        lab
    }

    async fn on(
        lines: &str,
        import: &[&str],
        url: &str,
        (user, password): &(String, String),
        server: Option<Server>,
    ) -> Self {
        let mut lab = Lab::new().await;
        lab.program.set("DREAM_GRAPH", url);
        lab.program.set("DREAM_GRAPH_USER", user);
        lab.program.set("DREAM_GRAPH_PASSWORD", password);
        let namespace = Uuid::now_v7();
        let mut row_id = Uuid::nil();
        if !lines.is_empty() {
            lab.program.import_with(STORE, &namespace.to_string(), &salted(lines, namespace), import);
            let namespaces = lab.program.run(&["namespaces", "--json"]).expect(0).json();
            row_id = namespaces[0]["row_id"].as_str().unwrap().parse().unwrap();
        }
        let driver = Graph::new(url, user.as_str(), password.as_str()).unwrap();
        Self { lab, namespace, row_id, driver, server }
    }

    /// A client of the graph.
    pub const fn driver(&self) -> &Graph {
        &self.driver
    }

    /// The server of its own.
    pub const fn server(&self) -> &Server {
        self.server.as_ref().expect("a lab with a server of its own")
    }

    /// The input of a dream over its namespace.
    pub fn input(&self, mut fields: Value) -> DreamInput {
        fields["namespace"] = json!(self.namespace);
        serde_json::from_value(fields).unwrap()
    }

    /// Dreams on the local engine, and answers the report.
    pub fn dream(&self, more: &[&str]) -> Value {
        self.lab.program.dream(STORE, &self.namespace.to_string(), more)
    }

    /// Compares the two stores.
    pub fn verify(&self) -> Answer {
        self.lab.program.run(&["verify", "mirror", "--namespace", &self.namespace.to_string(), "--json"])
    }

    /// Panics unless both stores say the same.
    #[track_caller]
    pub fn is_clean(&self, what: &str) -> Value {
        let answer = self.verify();
        let json = answer.json();
        assert_eq!(json["clean"], true, "{what}: {json:#}");
        json
    }

    /// Tells the graph what it was not told, until nothing is left.
    #[track_caller]
    pub fn reconcile(&self) {
        crate::lab::eventually("the graph is told everything", || {
            let answer = self.lab.program.run(&["reconcile", "--json"]);
            let json = answer.json();
            assert_eq!(json["parked"], 0, "{json:#}");
            (json["left"] == 0).then_some(())
        });
    }

    /// Runs a statement that writes, as somebody else than this program.
    pub async fn write(&self, statement: &str, parameters: &[(&str, BoltType)]) {
        self.driver.run(self.query(statement, parameters)).await.unwrap();
    }

    fn query(&self, statement: &str, parameters: &[(&str, BoltType)]) -> Query {
        let query = Query::new(statement.to_owned()).param("ns", self.row_id.to_string());
        parameters.iter().fold(query, |query, (name, value)| query.param(name, value.clone()))
    }

    /// The rows that a statement answers, in text.
    pub async fn rows(&self, statement: &str) -> Vec<Vec<String>> {
        let mut stream = self.driver.execute(self.query(statement, &[])).await.unwrap();
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await.unwrap() {
            let row: BoltType = row.get("row").unwrap();
            let BoltType::List(list) = row else { panic!("RETURN […] AS row") };
            rows.push(list.value.iter().map(text).collect());
        }
        rows
    }

    /// What the graph holds.
    pub async fn held(&self) -> Held {
        let mut held = Held::default();
        for row in self.rows("MATCH (n:Entity {namespace_id: $ns}) RETURN [n.id, properties(n)] AS row").await {
            let [id, properties] = row.try_into().unwrap();
            assert!(held.nodes.insert(id, properties).is_none(), "two nodes of one id");
        }
        let edges = "MATCH (a:Entity {namespace_id: $ns})-[r]->(b:Entity)
                     RETURN [r.id, a.id, type(r), b.id, properties(r)] AS row";
        for row in self.rows(edges).await {
            let [id, source, label, target, properties] = row.try_into().unwrap();
            assert!(held.edges.insert(id, (source, label, target, properties)).is_none(), "two edges of one id");
        }
        let versions = "MATCH (:Entity {namespace_id: $ns})-[:SUPERSEDES]->(v:EntityVersion) RETURN [v.id] AS row";
        held.versions = self.rows(versions).await.len();
        held
    }

    /// The neighbours of every live node, by id: those of an entity that was merged belong to its survivor.
    pub async fn neighbours(&self) -> BTreeMap<String, Vec<String>> {
        let statement = "MATCH (a:Entity {namespace_id: $ns})-[r]-(b:Entity)
                         WHERE a.valid_until IS NULL AND r.valid_until IS NULL RETURN DISTINCT [a.id, b.id] AS row";
        let mut neighbours: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in self.rows(statement).await {
            let [node, neighbour] = row.try_into().unwrap();
            neighbours.entry(node).or_default().push(neighbour);
        }
        neighbours
    }
}

/// A value in text, the same for the same value.
fn text(value: &BoltType) -> String {
    match value {
        BoltType::String(text) => text.value.clone(),
        BoltType::List(list) => format!("{:?}", list.value.iter().map(text).collect::<Vec<_>>()),
        BoltType::Map(map) => {
            let sorted: BTreeMap<&str, String> =
                map.value.iter().map(|(key, value)| (key.value.as_str(), text(value))).collect();
            format!("{sorted:?}")
        }
        other => format!("{other:?}"),
    }
}

/// The lines with ids of their own: all labs share one graph.
fn salted(lines: &str, salt: Uuid) -> String {
    fn change(value: &mut Value, salt: Uuid) {
        match value {
            Value::String(text) => {
                if let Ok(id) = Uuid::parse_str(text) {
                    *text = Uuid::new_v5(&salt, id.as_bytes()).to_string();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| change(value, salt)),
            Value::Object(fields) => fields.values_mut().for_each(|value| change(value, salt)),
            _ => {}
        }
    }
    let salted = lines.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        change(&mut line, salt);
        format!("{line}\n")
    });
    salted.collect()
}

/// A Neo4j server of a test's own.
pub struct Server {
    state: PathBuf,
    pub url: String,
    pub password: String,
}

impl Server {
    fn start() -> Self {
        let state = PathBuf::from(variable("DREAM_TEST_STATE")).join("own").join(Uuid::now_v7().simple().to_string());
        std::fs::create_dir_all(&state).unwrap();
        let server = Self { state, url: String::new(), password: String::new() };
        server.call(&["up", "neo4j"]);
        let environment = server.call(&["env"]);
        let value = |name: &str| {
            let line = environment.lines().find_map(|line| line.strip_prefix(&format!("export {name}=")));
            line.unwrap_or_default().trim_matches('\'').to_owned()
        };
        Self {
            url: value("DREAM_TEST_NEO4J_URL"),
            password: value("DREAM_TEST_NEO4J_PASSWORD"),
            state: server.state.clone(),
        }
    }

    /// `kill9`, `stop`, `start`, `pause` or `resume`.
    pub fn disturb(&self, how: &str) {
        self.call(&[how, "neo4j"]);
    }

    fn call(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(variable("DREAM_TEST_SERVICES"));
        for name in ["DREAM_TEST_NEO4J_URL", "DREAM_TEST_NEO4J_USER", "DREAM_TEST_NEO4J_PASSWORD"] {
            command.env_remove(name);
        }
        let done = command.args(arguments).env("DREAM_TEST_STATE", &self.state).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }
}

impl Drop for GraphLab {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            let _gone = Command::new(variable("DREAM_TEST_SERVICES"))
                .args(["down"])
                .env("DREAM_TEST_STATE", &server.state)
                .status();
        }
    }
}
