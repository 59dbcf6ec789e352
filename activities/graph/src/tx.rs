//! A drainer's transaction: the mark of its namespace is locked first, so there is one at a time.

use async_trait::async_trait;
use dream_core::id::NamespaceId;
use dream_core::mirror::{GraphNeeds, GraphRows, GraphWrites};
use dream_ports::{GraphError, GraphTx};
use neo4rs::Query;
use uuid::Uuid;

use crate::dialect::Kind;
use crate::session::{Session, unreadable};
use crate::{cypher, load, write};

pub(crate) const BEGIN: &str = "begin a transaction";

const COMMIT: &str = "commit a batch";

/// The transaction. Dropping it closes its connection, and the server gives it up.
pub(crate) struct NeoTx {
    pub(crate) session: Session,
    pub(crate) kind: Kind,
    pub(crate) namespace: NamespaceId,
    batch: Option<Uuid>,
}

impl NeoTx {
    /// Locks the mark, and leaves the epoch there where it is none of an earlier drainer's.
    pub(crate) async fn begin(
        mut session: Session,
        kind: Kind,
        namespace: NamespaceId,
        epoch: i64,
    ) -> Result<Self, GraphError> {
        let mut marks: Vec<(Option<i64>, Option<String>)> = Vec::new();
        session
            .each(BEGIN, statement(cypher!("mark_lock"), namespace), |row| {
                let epoch = row.get("epoch").map_err(|_| unreadable(BEGIN))?;
                marks.push((epoch, row.get("batch").map_err(|_| unreadable(BEGIN))?));
                Ok(())
            })
            .await?;
        if marks.iter().any(|(found, _)| found.is_some_and(|found| found > epoch)) {
            session.close(BEGIN).await?;
            return Err(GraphError::Fenced { namespace });
        }
        session.run(BEGIN, statement(cypher!("mark_epoch"), namespace).param("epoch", epoch)).await?;
        let batch = marks.into_iter().find_map(|(_, batch)| batch);
        let batch = batch.map(|batch| Uuid::parse_str(&batch)).transpose().map_err(|_| GraphError::Unreadable {
            operation: BEGIN,
            what: format!("the batch at the mark of namespace {namespace}"),
        })?;
        Ok(Self { session, kind, namespace, batch })
    }

    /// A statement on the namespace.
    pub(crate) fn statement(&self, text: &str) -> Query {
        statement(text, self.namespace)
    }

    /// A statement on edges of a label in the namespace.
    pub(crate) fn labelled(&self, text: &str, label: &str) -> Query {
        statement(&self.kind.labelled(text, label), self.namespace)
    }
}

/// A statement on a namespace.
pub(crate) fn statement(text: &str, namespace: NamespaceId) -> Query {
    Query::new(text.to_owned()).param("namespace", namespace.to_string())
}

#[async_trait]
impl GraphTx for NeoTx {
    fn batch_committed(&self) -> Option<Uuid> {
        self.batch
    }

    async fn load(&mut self, needs: &GraphNeeds, rows: &mut GraphRows) -> Result<(), GraphError> {
        load::load(self, needs, rows).await
    }

    async fn write(&mut self, writes: &GraphWrites) -> Result<(), GraphError> {
        write::write(self, writes).await
    }

    async fn commit(mut self: Box<Self>, batch: Uuid) -> Result<(), GraphError> {
        let mark = self.statement(cypher!("mark_batch")).param("batch", batch.to_string());
        self.session.run(COMMIT, mark).await?;
        self.session.commit(COMMIT).await
    }
}
