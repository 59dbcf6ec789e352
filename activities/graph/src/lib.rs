//! The graph database that mirrors a store: Neo4j, or Memgraph, with the graph that Khora keeps there.
//!
//! Khora's nodes and edges are read and written in its own spelling; ours beside them is one mark per namespace,
//! `(:DreamMirror {namespace_id, epoch, batch})`. A drainer's transaction locks the mark first, so that there is one at a time
//! and a later epoch ends the earlier one.
//!
//! **Invariant:** memory text reaches the server as a parameter only, and neither log nor error ever has any. Statements are
//! files under `cypher/`, in the subset that both servers speak; what differs is in `dialect.rs`. An edge is never looked up
//! by its own id alone: only some labels have an index on it.

#![forbid(unsafe_code)]

mod bolt;
mod cells;
mod dialect;
mod error;
mod load;
mod property;
mod rows;
mod session;
mod stream;
mod transfer;
mod tx;
mod write;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dream_core::change::Row;
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_ports::content::VisitRow;
use dream_ports::graph::{GraphCapabilities, Stray, VisitEdge, VisitEdgeReferences, VisitNode};
use dream_ports::{Graph, GraphError, GraphTx};
use neo4rs::BoltType;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::dialect::Kind;
use crate::session::{Lanes, Session};

/// A statement from `cypher/`.
macro_rules! cypher {
    ($name:literal) => {
        include_str!(concat!("../cypher/", $name, ".cypher"))
    };
}
pub(crate) use cypher;

/// Items that one statement is given: enough that round trips do not count, few enough that one statement stays well below
/// the time and the memory that a server grants it.
pub(crate) const BATCH: usize = 1_000;

/// Cuts items into what one statement is given. They are many and large, so none is copied.
pub(crate) fn chunks(items: impl IntoIterator<Item = BoltType>) -> impl Iterator<Item = Vec<BoltType>> {
    let mut items = items.into_iter();
    std::iter::from_fn(move || {
        let chunk: Vec<BoltType> = items.by_ref().take(BATCH).collect();
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// A moment as the graph holds the validity of a memory, for whoever measures beside this crate what its writes cost.
pub fn validity(at: Moment) -> BoltType {
    bolt::bolt(&cells::time(at))
}

/// A graph in a Neo4j or Memgraph database.
pub struct NeoGraph {
    lanes: Arc<Lanes>,
    database: Option<String>,
    kind: OnceCell<Kind>,
    prepared: OnceCell<()>,
}

impl fmt::Debug for NeoGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The rest holds the password.
        f.debug_struct("NeoGraph").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl NeoGraph {
    /// The graph at `url` (`bolt://host:7687`, with TLS `bolt+s://`), in `database` or the server's default one. Nothing is
    /// connected yet; whether the address and the user are any good shows at the first call, as [`GraphError::Unfit`] or
    /// [`GraphError::Unavailable`]. Every call answers within seconds of its server's silence, and tries nothing twice.
    pub fn open(url: &str, user: &str, password: &str, database: Option<&str>) -> Self {
        let database = database.map(str::to_owned);
        Self {
            lanes: Arc::new(Lanes::new(url, user, password)),
            database,
            kind: OnceCell::new(),
            prepared: OnceCell::new(),
        }
    }

    async fn kind(&self) -> Result<Kind, GraphError> {
        let detect = || Box::pin(async { dialect::detect(&self.lanes).await.map(|(kind, _)| kind) });
        self.kind.get_or_try_init(detect).await.copied()
    }

    async fn session(&self, operation: &'static str) -> Result<Session, GraphError> {
        let database = self.kind().await?.database(self.database.as_deref());
        self.lanes.begin(operation, database).await
    }
}

#[async_trait]
impl Graph for NeoGraph {
    async fn probe(&self) -> Result<GraphCapabilities, GraphError> {
        let (kind, capabilities) = dialect::detect(&self.lanes).await?;
        // The database that was named must be there too, and the user must be let in.
        let database = kind.database(self.database.as_deref());
        stream::try_out(self.lanes.begin(stream::PROBE, database).await?).await?;
        Ok(capabilities)
    }

    async fn prepare(&self) -> Result<(), GraphError> {
        let kind = self.kind().await?;
        dialect::prepare(&self.lanes, kind, kind.database(self.database.as_deref())).await
    }

    async fn has_edges(&self, namespace: NamespaceId) -> Result<bool, GraphError> {
        stream::has_edges(self.session(stream::HAS_EDGES).await?, namespace).await
    }

    async fn nodes(&self, namespace: NamespaceId, ids: IdRange, visit: VisitNode<'_>) -> Result<(), GraphError> {
        stream::nodes(self.session(stream::NODES).await?, namespace, ids, visit).await
    }

    async fn edges(&self, namespace: NamespaceId, ids: IdRange, visit: VisitEdge<'_>) -> Result<(), GraphError> {
        stream::edges(self.session(stream::EDGES).await?, namespace, ids, visit).await
    }

    async fn nodes_at(&self, namespace: NamespaceId, nodes: &[Uuid], visit: VisitRow<'_>) -> Result<(), GraphError> {
        stream::nodes_at(self.session(stream::NODES).await?, namespace, nodes, visit).await
    }

    async fn edges_at(
        &self,
        namespace: NamespaceId,
        ends: &[(Uuid, Uuid)],
        visit: VisitRow<'_>,
    ) -> Result<(), GraphError> {
        stream::edges_at(self.session(stream::EDGES).await?, namespace, ends, visit).await
    }

    async fn references(&self, namespace: NamespaceId, visit: VisitEdgeReferences<'_>) -> Result<(), GraphError> {
        stream::references(self.session(stream::REFERENCES).await?, namespace, visit).await
    }

    async fn edge_rows(&self, namespace: NamespaceId, visit: VisitRow<'_>) -> Result<(), GraphError> {
        stream::edge_rows(self.session(stream::EDGES).await?, namespace, visit).await
    }

    async fn strays(&self, namespace: NamespaceId, limit: u32) -> Result<Vec<Stray>, GraphError> {
        stream::strays(self.session(stream::STRAYS).await?, namespace, limit).await
    }

    async fn begin(&self, namespace: NamespaceId, epoch: i64) -> Result<Box<dyn GraphTx>, GraphError> {
        // A graph that Khora filled has neither our constraint nor, perhaps, an index on the ids of its nodes.
        self.prepared.get_or_try_init(|| self.prepare()).await?;
        let session = self.session(tx::BEGIN).await?;
        let tx = tx::NeoTx::begin(session, self.kind().await?, namespace, epoch).await?;
        Ok(Box::new(tx))
    }

    async fn import_nodes(&self, namespace: NamespaceId, rows: &[Row]) -> Result<(), GraphError> {
        transfer::nodes(self.session(transfer::NODES).await?, namespace, rows).await
    }

    async fn import_edges(&self, namespace: NamespaceId, rows: &[Row]) -> Result<Vec<Uuid>, GraphError> {
        let session = self.session(transfer::EDGES).await?;
        transfer::edges(session, self.kind().await?, namespace, rows).await
    }
}
