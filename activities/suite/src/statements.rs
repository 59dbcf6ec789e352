//! What must hold of the statements of a store, whatever they say: one per file, every file used, no `select *`, no insert
//! without a column list, and the bits of a set-wise write those of the core.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dream_core::change::{Column, Table};
use dream_core::guard;
use dream_core::op::OpKind;

/// A statement by its name, as `entities/load`.
pub type Statements = BTreeMap<String, String>;

/// Every statement below `queries/` of a crate.
pub fn all(crate_root: &str) -> Statements {
    let root = Path::new(crate_root).join("queries");
    let mut statements = Statements::new();
    for table in std::fs::read_dir(&root).unwrap() {
        let table = table.unwrap();
        for verb in std::fs::read_dir(table.path()).unwrap() {
            let path = verb.unwrap().path();
            let name = format!("{}/{}", table.file_name().display(), path.file_stem().unwrap().display());
            assert_eq!(path.extension().unwrap(), "sql", "{name}");
            statements.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(statements.len() > 50, "the statements are somewhere else");
    statements
}

/// The statement without its comments.
fn code(statement: &str) -> String {
    let lines = statement.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// Rules that a reader would check by eye.
pub fn assert_well_formed(statements: &Statements) {
    for (name, statement) in statements {
        let header = statement.lines().next().unwrap();
        assert_eq!(header, format!("-- queries/{name}.sql"), "the first line names the file");
        let code = code(statement);
        for shouted in ["SELECT", "INSERT", "UPDATE", "DELETE", "FROM", "WHERE"] {
            assert!(!code.contains(shouted), "{name}: lower case, as all of SQL here");
        }
        assert!(!code.contains("select *\n  from entities") && !code.contains(".*"), "{name}: columns are named");
        let stars = code.matches('*').count() - code.matches("count(*)").count();
        let only_over_own_columns = code.contains("select * from (");
        assert!(stars == 0 || only_over_own_columns, "{name}: columns are named");
        for insert in code.split("insert into ").skip(1) {
            let target = insert.split_whitespace().nth(1).unwrap_or_default();
            assert!(target.starts_with('('), "{name}: an insert names its columns");
        }
    }
}

/// Every statement is called from the sources, and every one that is called is there.
pub fn assert_used(statements: &Statements, crate_root: &str) {
    let mut called = BTreeSet::new();
    for file in std::fs::read_dir(Path::new(crate_root).join("src")).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        called.extend(source.split("sql!(\"").skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned)));
    }
    let there: BTreeSet<String> = statements.keys().cloned().collect();
    assert_eq!(there.difference(&called).collect::<Vec<_>>(), Vec::<&String>::new(), "nobody calls these");
}

/// The bit of each column in a set-wise write is the core's, and each column that any kind of op may change is written.
pub fn assert_writes_what_ops_may_change(statements: &Statements) {
    for table in [Table::Entities, Table::Relationships, Table::TemporalEdges] {
        let statement = code(&statements[&format!("{table}/write")]);
        let mut written = BTreeSet::new();
        for line in statement.lines().filter(|line| line.contains("touched") && line.contains(" & ")) {
            let (left, right) = line.split_once('=').unwrap();
            let column: Column = left.trim().trim_start_matches("set ").trim().parse().unwrap();
            let bits = right.split_once(" & ").unwrap().1;
            let bit: u32 = bits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
            assert_eq!(bit, table.bit(column), "{table}.{column}");
            written.insert(column);
        }
        let may_change =
            |column: &&Column| OpKind::ALL.iter().any(|kind| guard::admits(*kind, [(table, Some(**column))]));
        let changed: BTreeSet<Column> = table.columns().iter().filter(may_change).copied().collect();
        let elsewhere: BTreeSet<Column> = changed.difference(&written).copied().collect();
        let is_kept_beside =
            |column: &Column| *column == Column::Embedding && statements.contains_key("embeddings/write");
        assert!(elsewhere.iter().all(is_kept_beside), "{table} does not write {elsewhere:?}");
    }
}

/// A statement as it is prepared: with each set of chunk tables that a store may have, if it asks for them.
pub fn variants(statement: &str, chunk_tables: &[&str]) -> Vec<String> {
    if !statement.contains("chunks_of_store c") {
        return vec![statement.to_owned()];
    }
    let both: Vec<String> = chunk_tables.iter().map(|table| format!("select id, namespace_id from {table}")).collect();
    let mut sources: Vec<String> = chunk_tables.iter().map(|table| (*table).to_owned()).collect();
    sources.push(format!("({})", both.join(" union all ")));
    sources.into_iter().map(|source| statement.replace("chunks_of_store c", &format!("{source} c"))).collect()
}

/// Whether a statement names a table that this schema lacks; such a statement is only run where the table was seen.
pub fn needs_other_table(statement: &str, missing: &[&str]) -> bool {
    let code = code(statement);
    let words: BTreeSet<&str> = code.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    missing.iter().any(|table| words.contains(table))
}
