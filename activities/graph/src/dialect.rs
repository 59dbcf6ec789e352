//! Everything in which Neo4j and Memgraph differ: how to ask what is there, the schema, and how a label is quoted.
//!
//! All other statements are of the subset that both speak. **Invariant:** a server is known by what it answers, never by
//! what it calls itself in greeting, and the label of an edge is the one thing that is ever put into a statement's text.

use std::sync::Arc;

use dream_ports::GraphError;
use dream_ports::graph::GraphCapabilities;
use neo4rs::{Error, Query};

use crate::cypher;
use crate::error::{exists_already, graph_error, is_syntax};
use crate::session::{Lanes, unreadable};

/// Which server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Neo4j,
    Memgraph,
}

impl Kind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Neo4j => "neo4j",
            Self::Memgraph => "memgraph",
        }
    }

    /// The database to name in every request. Memgraph has one, and refuses requests that name any.
    pub(crate) fn database(self, configured: Option<&str>) -> Option<&str> {
        match self {
            Self::Neo4j => configured,
            Self::Memgraph => None,
        }
    }

    /// A label as a statement spells it.
    ///
    /// A back-tick ends it unless there are two. Neo4j puts in the characters that `\u0060` and the like stand for before it
    /// reads anything else, back-ticks too, so there the backslash itself is spelled so; Memgraph knows no such thing.
    fn quoted(self, label: &str) -> String {
        let doubled = label.replace('`', "``");
        let spelled = match self {
            Self::Neo4j => doubled.replace('\\', r"\u005C"),
            Self::Memgraph => doubled,
        };
        format!("`{spelled}`")
    }

    /// A statement about edges of a label.
    pub(crate) fn labelled(self, statement: &str, label: &str) -> String {
        statement.replace("`LABEL`", &self.quoted(label))
    }
}

const PROBE: &str = "say what it is";

/// Finds out what answers.
pub(crate) async fn detect(lanes: &Arc<Lanes>) -> Result<(Kind, GraphCapabilities), GraphError> {
    // No database is named yet: what Memgraph would refuse, Neo4j does not need for these.
    match lanes.alone(PROBE, None, cypher!("memgraph_version")).await? {
        Ok(rows) => {
            let version = rows.first().and_then(|row| row.get("version").ok()).ok_or_else(|| unreadable(PROBE))?;
            Ok(capabilities(Kind::Memgraph, version))
        }
        Err(error) if is_syntax(&error) => {
            let mut version = None;
            let mut session = lanes.begin(PROBE, None).await?;
            session
                .each(PROBE, Query::new(cypher!("neo4j_components").to_owned()), |row| {
                    // The first is the kernel; others, such as the language's, have numbers of their own.
                    if version.is_none() {
                        version =
                            row.get::<Vec<String>>("versions").ok().and_then(|versions| versions.first().cloned());
                    }
                    Ok(())
                })
                .await?;
            session.close(PROBE).await?;
            Ok(capabilities(Kind::Neo4j, version.ok_or_else(|| unreadable(PROBE))?))
        }
        Err(error) => Err(graph_error(PROBE, &error)),
    }
}

fn capabilities(kind: Kind, version: String) -> (Kind, GraphCapabilities) {
    (kind, GraphCapabilities { kind: kind.as_str().to_owned(), version })
}

const PREPARE: &str = "prepare its schema";

/// Makes the constraint of our marks, and the index on ids of nodes, where they are missing.
pub(crate) async fn prepare(lanes: &Arc<Lanes>, kind: Kind, database: Option<&str>) -> Result<(), GraphError> {
    let statements: Vec<&str> = match kind {
        Kind::Neo4j => {
            let missing = neo4j_missing(lanes, database).await?;
            [cypher!("neo4j_mark_constraint"), cypher!("neo4j_entity_index")]
                .into_iter()
                .zip(missing)
                .filter_map(|(statement, is_missing)| is_missing.then_some(statement))
                .collect()
        }
        Kind::Memgraph => {
            vec![cypher!("memgraph_mark_constraint"), cypher!("memgraph_mark_index"), cypher!("memgraph_entity_index")]
        }
    };
    for statement in statements {
        let made: Result<_, Error> = lanes.alone(PREPARE, database, statement).await?;
        if let Err(error) = made
            && !exists_already(&error)
        {
            return Err(graph_error(PREPARE, &error));
        }
    }
    Ok(())
}

/// Whether the constraint of marks and the index on ids are missing. Asked first, so that a user who may not change the
/// schema can work where somebody else has prepared it.
async fn neo4j_missing(lanes: &Arc<Lanes>, database: Option<&str>) -> Result<[bool; 2], GraphError> {
    let mut missing = [true, true];
    let mut session = lanes.begin(PREPARE, database).await?;
    session
        .each(PREPARE, Query::new(cypher!("neo4j_indexes").to_owned()), |row| {
            // Indexes for look-ups by label have no properties.
            let list = |column| row.get::<Option<Vec<String>>>(column).ok().flatten().unwrap_or_default();
            let is_unique = row.get("is_unique").unwrap_or(false);
            match (&list("labels")[..], &list("properties")[..]) {
                ([label], [property]) if label == "DreamMirror" && property == "namespace_id" && is_unique => {
                    missing[0] = false;
                }
                ([label], [property]) if label == "Entity" && property == "id" => missing[1] = false,
                _ => {}
            }
            Ok(())
        })
        .await?;
    session.close(PREPARE).await?;
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_end_its_own_quotes() {
        let quoted = |label| Kind::Neo4j.quoted(label);
        assert_eq!(quoted("WORKS_AT"), "`WORKS_AT`");
        assert_eq!(quoted("a`]->() DETACH DELETE (n) //"), "`a``]->() DETACH DELETE (n) //`");
        assert_eq!(quoted("``"), "``````");
        assert_eq!(quoted(r"a\u0060b"), r"`a\u005Cu0060b`");
        assert_eq!(quoted(r"\"), r"`\u005C`");
        assert_eq!(Kind::Memgraph.quoted(r"a\u0060`b"), r"`a\u0060``b`");
        assert_eq!(Kind::Neo4j.labelled("-[r:`LABEL`]->", "a`b"), "-[r:`a``b`]->");
    }

    #[test]
    fn every_statement_names_its_file() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cypher");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let first = format!("// cypher/{}\n", path.file_name().unwrap().to_string_lossy());
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with(&first), "{} must start with {first}", path.display());
            let is_dialect = first.contains("neo4j_") || first.contains("memgraph_");
            for word in ["COUNT {", "IN TRANSACTIONS", "timestamp()", "datetime(", "elementId", "apoc."] {
                assert!(is_dialect || !text.contains(word), "{}: only one dialect knows {word}", path.display());
            }
        }
    }
}
