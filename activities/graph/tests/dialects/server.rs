//! A server of our own that speaks Bolt 4.4 and answers as a [`Manner`] tells it to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::packstream::{Value, read, write};

/// What a statement is answered.
pub(crate) enum Answer {
    /// The names of the columns, and the rows.
    Rows(&'static [&'static str], Vec<Vec<Value>>),
    /// A code and a text.
    Failure(&'static str, &'static str),
    /// Nothing, for ever.
    Silence,
}

impl Answer {
    pub(crate) const fn nothing() -> Self {
        Self::Rows(&[], Vec::new())
    }
}

/// A statement as it comes.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) statement: String,
    pub(crate) parameters: Value,
    /// The database that was named, with the statement or at the beginning of its transaction.
    pub(crate) database: Option<Value>,
    pub(crate) in_transaction: bool,
}

/// How a server answers.
pub(crate) type Manner = fn(&Request, earlier: &[Request]) -> Answer;

/// A fake.
pub(crate) struct Server {
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    manner: Manner,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    commits: AtomicUsize,
}

impl Server {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("bolt://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            manner,
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            commits: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&serving);
                tokio::spawn(async move {
                    state.connections.fetch_add(1, Ordering::SeqCst);
                    Connection { stream, state: &state, database: None, in_transaction: false }.serve().await;
                    state.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { url, state }
    }

    /// Everything that was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn commits(&self) -> usize {
        self.state.commits.load(Ordering::SeqCst)
    }
}

const HELLO: u8 = 0x01;
const GOODBYE: u8 = 0x02;
const RESET: u8 = 0x0F;
const RUN: u8 = 0x10;
const BEGIN: u8 = 0x11;
const COMMIT: u8 = 0x12;
const ROLLBACK: u8 = 0x13;
const DISCARD: u8 = 0x2F;
const PULL: u8 = 0x3F;

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7E;
const FAILURE: u8 = 0x7F;

struct Connection<'a> {
    stream: TcpStream,
    state: &'a State,
    database: Option<Value>,
    in_transaction: bool,
}

impl Connection<'_> {
    async fn serve(mut self) {
        let mut greeting = [0; 20];
        if self.stream.read_exact(&mut greeting).await.is_err() {
            return;
        }
        self.stream.write_all(&[0, 0, 4, 4]).await.unwrap();
        let mut has_failed = false;
        let mut rows = Vec::new();
        while let Some((tag, fields)) = read(&mut self.stream).await {
            match tag {
                RESET => {
                    has_failed = false;
                    self.in_transaction = false;
                    self.succeed(Value::map([])).await;
                }
                _ if has_failed => write(&mut self.stream, IGNORED, &Value::map([])).await,
                HELLO => self.succeed(Value::map([("server", "Neo4j/0.0.0".into())])).await,
                GOODBYE => return,
                BEGIN => {
                    self.in_transaction = true;
                    self.database = fields[0].field("db").cloned();
                    self.succeed(Value::map([])).await;
                }
                COMMIT | ROLLBACK => {
                    self.in_transaction = false;
                    self.state.commits.fetch_add(usize::from(tag == COMMIT), Ordering::SeqCst);
                    self.succeed(Value::map([])).await;
                }
                RUN => match self.answer(fields) {
                    Answer::Rows(columns, found) => {
                        rows = found;
                        self.succeed(Value::map([("fields", Value::texts(columns))])).await;
                    }
                    Answer::Failure(code, message) => {
                        has_failed = true;
                        let failure = Value::map([("code", code.into()), ("message", message.into())]);
                        write(&mut self.stream, FAILURE, &failure).await;
                    }
                    Answer::Silence => std::future::pending().await,
                },
                PULL | DISCARD => {
                    for row in std::mem::take(&mut rows).into_iter().filter(|_| tag == PULL) {
                        write(&mut self.stream, RECORD, &Value::List(row)).await;
                    }
                    self.succeed(Value::map([("has_more", Value::Bool(false))])).await;
                }
                other => panic!("the fake knows no request {other:#x}"),
            }
        }
    }

    async fn succeed(&mut self, metadata: Value) {
        write(&mut self.stream, SUCCESS, &metadata).await;
    }

    fn answer(&self, fields: Vec<Value>) -> Answer {
        let [Value::Text(statement), parameters, extra] = <[Value; 3]>::try_from(fields).unwrap() else {
            panic!("a statement is a text")
        };
        let of_transaction = self.database.clone().filter(|_| self.in_transaction);
        let database = extra.field("db").cloned().or(of_transaction);
        let request = Request { statement, parameters, database, in_transaction: self.in_transaction };
        let mut requests = self.state.requests.lock().unwrap();
        let answer = (self.state.manner)(&request, &requests);
        requests.push(request);
        answer
    }
}
