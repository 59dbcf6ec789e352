//! A model as a server of our own: it speaks one of three dialects, answers what a test tells it to, late, broken or never, and
//! remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the provider says that an answer took, where it says so.
pub const INPUT_TOKENS: u64 = 120;
pub const OUTPUT_TOKENS: u64 = 30;

/// Whose dialect it speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    OpenAi,
    Anthropic,
    Ollama,
}

/// What it does with a question.
pub enum Say {
    /// Answers with these words.
    Words(String),
    /// Answers with these words, and says that it had no tokens left.
    CutOff(String),
    /// Answers with these words, after a while.
    Late(Duration, String),
    /// Answers with another document than the dialect has.
    Document(Value),
    /// Refuses with a status, and the headers that stand with it. The body repeats the question.
    Status(u16, Vec<(&'static str, String)>),
    /// Hangs up in the middle of its answer.
    HangUp(String),
    /// Says nothing until whoever asked is gone.
    Nothing,
}

/// A question as it came over the wire.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Asked {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What the user said: the input of the job.
    pub fn input(&self) -> Value {
        let messages = self.body["messages"].as_array().unwrap();
        let user = messages.iter().find(|message| message["role"] == "user").unwrap();
        serde_json::from_str(user["content"].as_str().unwrap()).unwrap()
    }
}

/// A model that serves until its process ends.
pub struct Model {
    pub address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Model {
    /// Starts a model; `script` is told how many questions came before, and the question.
    pub fn start(dialect: Dialect, script: impl Fn(usize, &Asked) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, known) = (Arc::new(script), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, asked) = (script.clone(), known.clone());
                // Whoever hangs up early ends its own thread, and nothing else.
                std::thread::spawn(move || serve(stream, dialect, &asked, script.as_ref()));
            }
        });
        Self { address, asked }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, dialect: Dialect, asked: &Mutex<Vec<Asked>>, script: &dyn Fn(usize, &Asked) -> Say) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    let Some(question) = read(&mut reader) else { return };
    let before = {
        let mut asked = asked.lock().unwrap();
        asked.push(question.clone());
        asked.len() - 1
    };
    let document = match script(before, &question) {
        Say::Words(words) => completion(dialect, &words, false),
        Say::CutOff(words) => completion(dialect, &words, true),
        Say::Late(pause, words) => {
            std::thread::sleep(pause);
            completion(dialect, &words, false)
        }
        Say::Document(document) => document,
        Say::Status(status, headers) => {
            let body = json!({ "error": { "message": question.body.to_string() } }).to_string();
            let _sent = stream.write_all(response(status, &headers, &body).as_bytes());
            return;
        }
        Say::HangUp(words) => {
            let whole = response(200, &[], &completion(dialect, &words, false).to_string());
            let _sent = stream.write_all(&whole.as_bytes()[..whole.len() - 20]);
            return;
        }
        Say::Nothing => {
            // Ends when the other side closes.
            let _gone = reader.read_to_end(&mut Vec::new());
            return;
        }
    };
    let _sent = stream.write_all(response(200, &[], &document.to_string()).as_bytes());
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, headers, body: serde_json::from_slice(&body).ok()? })
}

fn response(status: u16, headers: &[(&str, String)], body: &str) -> String {
    let more: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let more = more.concat();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}"
    )
}

/// An answer as the provider documents it.
fn completion(dialect: Dialect, words: &str, is_cut: bool) -> Value {
    let stop = |whole: &'static str, cut: &'static str| if is_cut { cut } else { whole };
    match dialect {
        Dialect::OpenAi => json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "a-model-2026-11-01",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": words, "refusal": null },
                "logprobs": null,
                "finish_reason": stop("stop", "length"),
            }],
            "usage": {
                "prompt_tokens": INPUT_TOKENS,
                "completion_tokens": OUTPUT_TOKENS,
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            },
        }),
        Dialect::Anthropic => json!({
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "a-model-2026-11-01",
            "content": [{ "type": "text", "text": words }],
            "stop_reason": stop("end_turn", "max_tokens"),
            "stop_sequence": null,
            "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS },
        }),
        Dialect::Ollama => json!({
            "model": "a-model",
            "created_at": "2026-12-01T00:00:00Z",
            "message": { "role": "assistant", "content": words },
            "done": true,
            "done_reason": stop("stop", "length"),
            "total_duration": 1_000,
            "prompt_eval_count": INPUT_TOKENS,
            "eval_count": OUTPUT_TOKENS,
        }),
    }
}
