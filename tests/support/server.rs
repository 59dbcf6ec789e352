//! `dream serve` as a process of its own, and calls to it as an agent makes them.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::program::Program;

/// A server, stopped with its test.
pub struct Server {
    child: Child,
    client: Client,
    pub address: String,
}

/// What a call answered.
pub struct Answered {
    pub status: StatusCode,
    pub kind: String,
    pub text: String,
}

impl Answered {
    /// Fails the test unless the call ended with this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    /// The answer as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}:\n{}", self.text))
    }

    /// The answer as a problem.
    #[track_caller]
    pub fn problem(&self) -> Value {
        assert_eq!(self.kind, "application/problem+json", "{}", self.text);
        self.json()
    }
}

/// An agent with the key of a space.
pub struct Agent<'s> {
    server: &'s Server,
    key: String,
}

impl Server {
    /// Starts a server on the store of a program's folder, and waits until it listens.
    pub fn start(program: &Program) -> Self {
        let mut child = program.start(&["serve", "--listen", "127.0.0.1:0"]);
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = said.next().expect("the server ended before it listened").unwrap();
            if let Some((_, rest)) = line.split_once("serving ") {
                break rest.split(',').next().unwrap().to_owned();
            }
        };
        // What it says later has to go somewhere, or it would wait for room.
        std::thread::spawn(move || said.for_each(drop));
        Self { child, client: Client::new(), address }
    }

    pub fn agent(&self, key: &str) -> Agent<'_> {
        Agent { server: self, key: key.to_owned() }
    }

    pub async fn open(&self, path: &str) -> Answered {
        self.send(self.client.get(format!("{}{path}", self.address))).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answered {
        let response = request.send().await.unwrap();
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let (status, kind) = (response.status(), kind.to_owned());
        Answered { status, kind, text: response.text().await.unwrap() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Agent<'_> {
    pub async fn get(&self, path: &str) -> Answered {
        self.call(Method::GET, path, String::new()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answered {
        self.call(Method::POST, path, body.to_string()).await
    }

    pub async fn call(&self, method: Method, path: &str, body: String) -> Answered {
        let request = self.server.client.request(method, format!("{}{path}", self.server.address));
        self.server.send(request.bearer_auth(&self.key).header("content-type", "application/json").body(body)).await
    }

    /// The end of its key, which tells one agent from another.
    pub fn key_end(&self) -> &str {
        &self.key[self.key.len() - 4..]
    }

    /// Remembers a fact, and answers its id.
    pub async fn remember(&self, fact: &Value) -> String {
        self.post("/v1/facts", fact).await.expect(201).json()["id"].as_str().unwrap().to_owned()
    }
}
