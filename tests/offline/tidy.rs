//! The rules of this repository, as tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dream_core::failure::Code;

/// Lines of a source file; beyond this nobody reads one in a sitting.
const FILE_LINES_MAX: usize = 500;

/// Lines of a function: about a screen.
const FUNCTION_LINES_MAX: usize = 75;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files of the repository with an extension, build output left out.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | ".git" | "dream-demo" | ".tools") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {extension} files: the rule would pass for want of files");
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn no_source_file_is_longer_than_one_sitting() {
    let long: Vec<String> = files("rs")
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(name, lines)| format!("{name} ({lines})"))
        .collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut long = Vec::new();
    for path in files("rs") {
        let text = fs::read_to_string(&path).unwrap();
        let mut open: Vec<(usize, usize, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let code = line.trim_start();
            let is_function = [
                "fn ",
                "pub fn ",
                "async fn ",
                "pub async fn ",
                "pub(crate) fn ",
                "pub(crate) async fn ",
                "pub(super) fn ",
                "pub(super) async fn ",
                "const fn ",
                "pub const fn ",
            ]
            .iter()
            .any(|start| code.starts_with(start));
            if is_function && !code.ends_with(';') {
                open.push((indent, number, code.chars().take(60).collect()));
            }
            if code == "}"
                && let Some(position) = open.iter().rposition(|(at, _, _)| *at == indent)
            {
                let (_, from, what) = open.remove(position);
                if number - from > FUNCTION_LINES_MAX {
                    long.push(format!("{}:{} {what} ({} lines)", name(&path), from + 1, number - from));
                }
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent: Vec<String> = files("rs")
        .iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            !text.starts_with("//!") && !text.starts_with("#![doc")
        })
        .map(|path| name(path))
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn nothing_is_left_for_later() {
    let mut left = Vec::new();
    for path in files("rs").into_iter().chain(files("sql")) {
        if name(&path) == "tests/offline/tidy.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["TODO", "FIXME", "XXX", "todo!(", "#[ignore"] {
            if text.contains(word) {
                left.push(format!("{}: {word}", name(&path)));
            }
        }
    }
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn every_statement_names_its_file_and_its_columns() {
    let mut wrong = Vec::new();
    for path in files("sql") {
        let text = fs::read_to_string(&path).unwrap();
        let file = name(&path);
        if !file.contains("/queries/") {
            continue;
        }
        let own = file.split_once("/queries/").map(|(_, own)| format!("-- queries/{own}")).unwrap_or_default();
        if !text.starts_with(&own) {
            wrong.push(format!("{file}: the first line must be {own}"));
        }
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n");
        if code.contains("select *") && !code.contains("select * from (") {
            wrong.push(format!("{file}: select *"));
        }
        for (at, _) in code.match_indices("insert into ") {
            let rest = &code[at + "insert into ".len()..];
            let after_name =
                rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.').trim_start();
            if !after_name.starts_with('(') {
                wrong.push(format!("{file}: an insert without its columns"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_code_has_its_page_and_every_page_its_code() {
    let folder = root().join("docs/errors");
    let expected: Vec<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
    for (code, file) in Code::ALL.iter().zip(&expected) {
        let page = fs::read_to_string(folder.join(file)).unwrap_or_else(|_| panic!("docs/errors/{file} is missing"));
        assert!(page.contains(code.name()), "docs/errors/{file} does not name {}", code.name());
    }
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(expected.contains(&file) || file == "README.md", "docs/errors/{file} belongs to no code");
    }
}

/// Packages that a package of ours must not depend on, by the rule that forbids it.
const FORBIDDEN: &[(&str, &[&str])] = &[
    (
        "dream-core",
        &[
            "tokio",
            "sqlx",
            "tonic",
            "neo4rs",
            "reqwest",
            "rand",
            "temporalio-sdk",
            "temporalio-workflow",
            "dream-ports",
        ],
    ),
    (
        "dream-workflows",
        &["tokio", "sqlx", "tonic", "neo4rs", "reqwest", "temporalio-sdk", "dream-ports", "dream-activities"],
    ),
    ("dream-ports", &["sqlx", "tokio", "temporalio-sdk", "dream-workflows"]),
    (
        "dream-activities",
        &[
            "sqlx",
            "neo4rs",
            "genai",
            "tonic",
            "clap",
            "dream-store-pg",
            "dream-store-sqlite",
            "dream-graph",
            "dream-mind",
        ],
    ),
    ("dream-mind", &["sqlx", "neo4rs", "temporalio-sdk", "dream-store-pg", "dream-store-sqlite", "dream-activities"]),
    ("dream-graph", &["sqlx", "temporalio-sdk", "dream-store-pg", "dream-store-sqlite", "dream-workflows"]),
    ("dream-store-pg", &["temporalio-sdk", "dream-store-sqlite", "dream-workflows", "dream-activities"]),
    ("dream-store-sqlite", &["temporalio-sdk", "dream-store-pg", "dream-workflows", "dream-activities"]),
];

#[test]
fn no_package_depends_on_what_lies_across_its_line() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut depends: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let direct = package["dependencies"].as_array().unwrap().iter();
        let direct = direct.filter(|dependency| dependency["kind"].is_null());
        let names = direct.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect();
        depends.insert(package["name"].as_str().unwrap().to_owned(), names);
    }
    for (package, forbidden) in FORBIDDEN {
        let crossing: Vec<&String> =
            depends[*package].iter().filter(|name| forbidden.contains(&name.as_str())).collect();
        assert!(crossing.is_empty(), "{package} depends on {crossing:?}");
    }
}

#[test]
fn the_pure_side_names_no_clock_no_chance_and_no_io() {
    let mut crossing = Vec::new();
    for path in files("rs").into_iter().filter(|path| name(path).starts_with("workflows/")) {
        let file = name(&path);
        if file.contains("/tests/") || file.contains("/examples/") || file.contains("/benches/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for word in [
                "sqlx",
                "neo4rs",
                "reqwest",
                "tokio::",
                "SystemTime",
                "Instant::",
                "HashMap",
                "HashSet",
                "std::fs",
                "std::env",
                "std::net",
                "std::thread",
                "now_v7",
                "new_v4",
            ] {
                if line.contains(word) {
                    crossing.push(format!("{file}:{}: {word}", number + 1));
                }
            }
        }
    }
    assert!(crossing.is_empty(), "{crossing:#?}");
}

#[test]
fn only_one_file_prints() {
    let printing: Vec<String> = files("rs")
        .iter()
        .filter(|path| {
            let file = name(path);
            !file.starts_with("tests/")
                && !file.contains("/tests/")
                && !file.contains("/examples/")
                && file != "src/term.rs"
        })
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().any(|line| line.contains("println!(") || line.contains("eprintln!("))
        })
        .map(|path| name(path))
        .collect();
    assert!(printing.is_empty(), "{printing:?}");
}
