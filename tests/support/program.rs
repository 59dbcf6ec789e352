//! The program, run as a person runs it, in a folder of its own and with an environment of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A folder with a configuration, and the program started in it.
pub struct Program {
    pub folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// What a command answered.
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The answer as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

impl Program {
    /// A program with every op switched on.
    pub fn new() -> Self {
        let switches = [
            ("KHORA_DREAM_ENABLED", "true"),
            ("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED", "true"),
            ("KHORA_DREAM_CENTROID_RECOMPUTE_ENABLED", "true"),
            ("KHORA_DREAM_SOURCE_CHUNK_IDS_GC_ENABLED", "true"),
        ];
        let mut program = Self::bare();
        for (name, value) in switches {
            program.set(name, value);
        }
        program
    }

    /// A program as it is on a new machine.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = vec![("DREAM_REPORTS".to_owned(), folder.path().join("reports").display().to_string())];
        Self { folder, environment }
    }

    /// Sets a variable for every command from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command in the folder, with the environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dream"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        // Nothing of the developer's own configuration may reach the tests.
        let inherited = std::env::vars().filter(|(name, _)| {
            name.starts_with("KHORA_DREAM_")
                || name.starts_with("TEMPORAL_")
                || name.starts_with("OTEL_")
                || name.starts_with("DREAM_") && name != "DREAM_TEST_RUN"
        });
        for (name, _) in inherited {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Answer {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Starts a command, and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts a command whose output goes to a file.
    pub fn start_logged(&self, arguments: &[&str], log: &Path) -> Child {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let other = file.try_clone().unwrap();
        self.command(arguments).stdout(file).stderr(other).spawn().unwrap()
    }

    /// Creates the tables in a store of the folder, and imports lines into a namespace.
    pub fn import(&self, store: &str, namespace: &str, lines: &str) {
        self.import_with(store, namespace, lines, &[]);
    }

    /// The same with more arguments.
    pub fn import_with(&self, store: &str, namespace: &str, lines: &str, more: &[&str]) {
        let file = self.path("world.jsonl");
        std::fs::write(&file, lines).unwrap();
        self.run(&["migrate", "--realm", "graph", "--store", store]).expect(0);
        let file = file.to_str().unwrap();
        let arguments = ["import", "graph", file, "--namespace", namespace, "--store", store];
        self.run(&[&arguments, more].concat()).expect(0);
    }

    /// Dreams over a namespace with the local engine, and answers the report as JSON.
    pub fn dream(&self, store: &str, namespace: &str, more: &[&str]) -> Value {
        let mut arguments = vec!["run", "graph", "--namespace", namespace, "--store", store, "--on", "local", "--json"];
        arguments.extend(more);
        self.run(&arguments).expect(0).json()
    }

    /// The content of a namespace, as export spells it.
    pub fn content(&self, store: &str, namespace: &str) -> String {
        self.run(&["export", "graph", "--namespace", namespace, "--store", store]).expect(0).stdout
    }

    /// The ops of a run's plan.
    pub fn ops(&self, store: &str, run: &str) -> Vec<Value> {
        let plan = self.run(&["plan", run, "--store", store, "--limit", "100000", "--json"]);
        plan.json()["ops"].as_array().unwrap().clone()
    }
}

/// How many ops of a report came to this.
pub fn count(report: &Value, state: &str) -> u64 {
    report["ops"][state].as_u64().unwrap_or(0)
}

/// The run of a report.
pub fn run_id(report: &Value) -> String {
    report["run_id"].as_str().unwrap().to_owned()
}
