//! How Memgraph and Neo4j answer, as far as they differ.

use crate::packstream::Value;
use crate::server::{Answer, Request};

/// What a server quotes in its errors, and nobody may pass on.
pub(crate) const MEMORY: &str = "Ada's secret";

fn asked(earlier: &[Request], word: &str) -> bool {
    earlier.iter().any(|request| request.statement.contains(word))
}

pub(crate) fn memgraph(request: &Request, earlier: &[Request]) -> Answer {
    const ERROR: &str = "Memgraph.ClientError.MemgraphError.MemgraphError";
    let text = &request.statement;
    let is_schema =
        text.contains("CREATE CONSTRAINT") || text.contains("CREATE INDEX") || text.contains("SHOW VERSION");
    if request.database.is_some() {
        Answer::Failure(ERROR, "No database known with that name!")
    } else if is_schema && request.in_transaction {
        Answer::Failure(ERROR, "Not allowed in multicommand transactions.")
    } else if text.contains("IF NOT EXISTS") || text.contains("REQUIRE") || text.contains("YIELD labelsOrTypes") {
        Answer::Failure(ERROR, "line 2:19 mismatched input 'IF' expecting {FOR, ON}")
    } else if text.contains("SHOW VERSION") {
        Answer::Rows(&["version"], vec![vec!["3.2.1".into()]])
    } else if text.contains("dbms.components") {
        Answer::Failure(ERROR, "There is no procedure named 'dbms.components'.")
    } else if text.contains("CREATE CONSTRAINT") && asked(earlier, "CREATE CONSTRAINT") {
        Answer::Failure(ERROR, "Constraint UNIQUE on label DreamMirror on properties namespace_id already exists.")
    } else if text.contains("SET n += row.properties") {
        Answer::Failure(
            "Memgraph.TransientError.MemgraphError.MemgraphError",
            "Cannot resolve conflicting transactions. You can retry this transaction when the conflicting transaction is finished.",
        )
    } else if text.contains("SET r += row.properties") {
        Answer::Failure(ERROR, "Unable to commit due to unique constraint violation on :X(name): Ada's secret")
    } else if text.contains("RETURN m.epoch AS epoch") {
        Answer::Rows(&["epoch", "batch"], vec![vec![Value::Null, Value::Null]])
    } else if text.contains("AS count") {
        Answer::Rows(&["count"], vec![vec![Value::Int(1)]])
    } else {
        Answer::nothing()
    }
}

pub(crate) fn neo4j(request: &Request, earlier: &[Request]) -> Answer {
    let text = &request.statement;
    if text.contains("SHOW VERSION") {
        Answer::Failure("Neo.ClientError.Statement.SyntaxError", "Invalid input 'VERSION': expected ...")
    } else if text.contains("dbms.components") {
        let kernel = vec!["Neo4j Kernel".into(), Value::texts(&["5.26.0"])];
        Answer::Rows(&["name", "versions"], vec![kernel, vec!["Cypher".into(), Value::texts(&["5"])]])
    } else if text.contains("CREATE CONSTRAINT ON") || text.contains("CREATE INDEX ON") {
        Answer::Failure("Neo.ClientError.Statement.SyntaxError", "Invalid constraint syntax, ON should not be used.")
    } else if text.contains("SHOW INDEXES") {
        let mut indexes = vec![vec![Value::Null, Value::Null, Value::Bool(false)]];
        if asked(earlier, "CREATE CONSTRAINT") {
            indexes.push(vec![Value::texts(&["DreamMirror"]), Value::texts(&["namespace_id"]), Value::Bool(true)]);
        }
        Answer::Rows(&["labels", "properties", "is_unique"], indexes)
    } else if text.contains("CREATE INDEX") {
        Answer::Failure("Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists", "There already exists an index.")
    } else if text.contains("RETURN m.epoch AS epoch") {
        Answer::Rows(&["epoch", "batch"], vec![vec![Value::Int(3), "0190a1b2-0000-7000-8000-000000000001".into()]])
    } else if text.contains("SET n += row.properties") {
        Answer::Failure(
            "Neo.TransientError.Transaction.DeadlockDetected",
            "ForsetiClient[...] can't acquire Ada's secret",
        )
    } else if text.contains("AS count") {
        Answer::Rows(&["count"], vec![vec![Value::Int(1)]])
    } else {
        Answer::nothing()
    }
}

/// Neo4j until a drainer looks at its mark.
pub(crate) fn frozen(request: &Request, earlier: &[Request]) -> Answer {
    if request.statement.contains("RETURN m.epoch AS epoch") { Answer::Silence } else { neo4j(request, earlier) }
}
