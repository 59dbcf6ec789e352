//! What the suite needs of a store besides its ports: a way to write and read content as Khora would, and to spoil things.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use dream_core::change::Row;
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_ports::Store;
use uuid::Uuid;

/// Every row of every content table, byte for byte as the store holds it.
pub type Content = BTreeMap<String, Vec<String>>;

/// Expects that nothing changed, and shows the rows that did.
#[track_caller]
pub fn assert_same(one: &Content, other: &Content, what: impl std::fmt::Display) {
    for (table, rows) in one {
        let others = &other[table];
        let only = |these: &[String], those: &[String]| -> String {
            these.iter().filter(|row| !those.contains(row)).flat_map(|row| ["\n  ", row]).collect()
        };
        assert!(
            rows == others,
            "{what}: {table}\nonly in one:{}\nonly in the other:{}",
            only(rows, others),
            only(others, rows)
        );
    }
}

/// A namespace to be made.
#[derive(Clone, Debug)]
pub struct NamespaceSeed {
    /// Its row id.
    pub id: NamespaceId,
    /// Its stable id.
    pub stable_id: StableNamespaceId,
    /// Which version it is.
    pub version: i32,
    /// Whether this version is the active one.
    pub is_active: bool,
    /// Its own settings, as JSON.
    pub config_overrides: String,
}

/// Where a chunk lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkTable {
    /// `chunks`, where Chronicle keeps them.
    Chunks,
    /// `khora_chunks`, where `VectorCypher` keeps them.
    KhoraChunks,
}

/// A name that ingestion meets.
#[derive(Clone, Debug)]
pub struct Mention {
    /// The id of the row that is made if there is none with this name and type.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// The type.
    pub entity_type: String,
    /// How often it is mentioned.
    pub mention_count: i64,
    /// Where.
    pub chunk: Uuid,
}

/// How a store spells what the suite writes into it by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// `SQLite`.
    Sqlite,
}

impl Dialect {
    /// One of our own tables.
    pub fn own(self, table: &str) -> String {
        match self {
            Self::Postgres => format!("dream.{table}"),
            Self::Sqlite => format!("dream_{table}"),
        }
    }

    /// An id as a literal.
    pub fn id(self, id: Uuid) -> String {
        match self {
            Self::Postgres => format!("'{id}'"),
            Self::Sqlite => format!("'{}'", id.simple()),
        }
    }

    /// A list of ids as a literal.
    pub fn ids(self, ids: &[Uuid]) -> String {
        match self {
            Self::Postgres => format!("'{{{}}}'", ids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(",")),
            Self::Sqlite => {
                let ids: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
                format!("'{}'", serde_json::json!(ids))
            }
        }
    }

    /// A moment as a literal.
    #[expect(clippy::unused_self, reason = "every literal is asked of the dialect")]
    pub fn moment(self, moment: Moment) -> String {
        format!("'{}'", moment.to_string().replace('Z', "+00:00"))
    }
}

/// A store under test, with a way around its ports.
#[async_trait]
pub trait WorldKit: Send + Sync {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// The same store, opened by another worker.
    async fn other_worker(&self) -> Arc<dyn Store>;

    /// How it spells things.
    fn dialect(&self) -> Dialect;

    /// Whether a snapshot can be read while somebody else writes; not where there is but one connection.
    fn reads_beside_writes(&self) -> bool;

    /// Whether the store keeps vectors.
    fn has_vectors(&self) -> bool;

    /// Whether this is Khora's schema, with temporal edges, a second chunk table and its run table.
    fn is_khoras(&self) -> bool;

    /// Makes a namespace.
    async fn insert_namespace(&self, seed: &NamespaceSeed);

    /// Writes an entity, a relationship or a temporal edge as Khora would; on the embedded file in one of its spellings.
    async fn insert(&self, namespace: NamespaceId, row: &Row);

    /// Writes a chunk with its document.
    async fn insert_chunk(&self, namespace: NamespaceId, chunk: Uuid, table: ChunkTable);

    /// Ingests a mention as Khora does: what that does to a retired row differs between stores.
    async fn ingest(&self, namespace: NamespaceId, mention: &Mention);

    /// Every row of every content table.
    async fn content(&self) -> Content;

    /// Runs a statement.
    async fn execute(&self, statement: &str) -> u64;

    /// Runs a query and reads each value as text.
    async fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>>;

    /// From now on every write to this entity is refused with a message that holds `text`.
    async fn refuse_entity(&self, entity: Uuid, text: &str);

    /// From now on every group fails at its very end, as the checkpoint is written or committed.
    async fn break_commits(&self);

    /// Writes cells of these entities in every way in which a store of Khora's may spell them; answers how many ways there are.
    async fn respell(&self, entities: &[Uuid]) -> usize;

    /// Takes refusals and broken commits back.
    async fn mend(&self);
}

/// What can be said with statements that both dialects understand.
impl dyn WorldKit + '_ {
    /// The lease of every target is over.
    pub async fn expire_leases(&self) {
        let lease = self.dialect().own("lease");
        let past = self.dialect().moment(Moment::from_micros(0));
        self.execute(&format!("update {lease} set expires_at = {past} where expires_at is not null")).await;
    }

    /// The time of every drainer is over.
    pub async fn expire_drainers(&self) {
        let drainer = self.dialect().own("drainer");
        let past = self.dialect().moment(Moment::from_micros(0));
        self.execute(&format!("update {drainer} set until = {past} where until is not null")).await;
    }

    /// The run has given no sign of life for so long.
    pub async fn silence(&self, run: RunId, seconds: i64) {
        let now = self.store().now().await.unwrap();
        let (table, id) = (self.dialect().own("run"), self.dialect().id(run.0));
        let then = self.dialect().moment(now.plus_seconds(-seconds));
        self.execute(&format!("update {table} set heartbeat_at = {then} where run_id = {id}")).await;
    }

    /// How many rows one of our own tables has.
    pub async fn count(&self, table: &str) -> u64 {
        let rows = self.rows(&format!("select count(*) from {}", self.dialect().own(table))).await;
        rows[0][0].as_deref().unwrap().parse().unwrap()
    }

    /// Changes one entity by hand, as somebody else would: `assignment` is SQL.
    pub async fn change_entity(&self, entity: Uuid, assignment: &str) {
        let id = self.dialect().id(entity);
        assert_eq!(self.execute(&format!("update entities set {assignment} where id = {id}")).await, 1);
    }

    /// Outbox rows in their order: run, op, direction and state.
    pub async fn outbox(&self) -> Vec<(Uuid, Uuid, String, String)> {
        let table = self.dialect().own("outbox");
        let rows = self.rows(&format!("select run_id, op_id, direction, state from {table} order by id")).await;
        let id = |text: &Option<String>| text.as_deref().unwrap().parse().unwrap();
        rows.iter().map(|row| (id(&row[0]), id(&row[1]), row[2].clone().unwrap(), row[3].clone().unwrap())).collect()
    }
}
