//! The MCP face, driven by the client of the official SDK: over a process's standard input and output, and over HTTP.

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

use crate::serve::{content, program};
use crate::spaces::answer;
use crate::support::program::Program;
use crate::support::server::Server;

type Client = RunningService<RoleClient, ()>;

async fn over_stdio(program: &Program, space: &str) -> Client {
    let command = tokio::process::Command::from(program.command(&["mcp", "--space", space]));
    ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
}

async fn over_http(server: &Server, key: &str) -> Client {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", server.address)).auth_header(key);
    ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

/// What a tool answers that does what it is asked.
#[track_caller]
fn done(result: CallToolResult) -> Value {
    assert_ne!(result.is_error, Some(true), "{:?}", result.content);
    result.structured_content.unwrap()
}

/// What a tool answers that refuses: a problem.
#[track_caller]
fn refused(result: &CallToolResult) -> Value {
    assert_eq!(result.is_error, Some(true), "{:?}", result.content);
    serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap()
}

/// Lives on a space, dreams, and looks at the report, with tools only.
async fn dream(client: &Client) -> String {
    let texts = ["drinks green tea", "drinks tea that is green", "works at night", "lives in Graz", "lives in Linz"];
    for text in texts {
        done(call(client, "add_fact", json!({ "text": text })).await);
    }
    let recalled = done(call(client, "recall", json!({ "query": "night" })).await);
    assert_eq!(recalled["facts"][0]["text"], "works at night");
    let next = done(call(client, "dream_next_job", json!({})).await);
    assert_eq!(done(call(client, "dream_next_job", json!({})).await), next, "asked twice, the same job");
    let run = next["job"]["run_id"].as_str().unwrap_or_else(|| panic!("{next:#}")).to_owned();
    let result: Value = serde_json::from_str(&answer(&next["job"])).unwrap();
    let report = done(call(client, "dream_submit", json!({ "run_id": run, "result": result })).await);
    assert_eq!((&report["status"], &report["report"]["merges"]), (&json!("done"), &json!(1)), "{report:#}");
    let again = call(client, "dream_submit", json!({ "run_id": run, "result": result.to_string() })).await;
    assert_eq!(done(again), report, "spelled as a text it is the same answer");
    let other = call(client, "dream_submit", json!({ "run_id": run, "result": {} })).await;
    assert_eq!(refused(&other)["code"], "DREAM-1012");
    let context = done(call(client, "get_context", json!({})).await);
    assert_eq!(context["last_dream"], report);
    assert_eq!(context["conflicts"].as_array().unwrap().len(), 1);
    run
}

#[tokio::test]
async fn a_client_over_stdio_lives_on_a_space_and_dreams() {
    let (program, [(space, _)]) = program();
    let client = over_stdio(&program, &space).await;
    let tools = client.list_all_tools().await.unwrap();
    for name in ["get_context", "dream_next_job", "dream_submit", "add_fact", "recall", "forget"] {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("no tool {name}"));
        assert!(tool.description.is_some() && tool.output_schema.is_some(), "{name}");
    }
    let run = dream(&client).await;
    let unknown = json!({ "fact_id": uuid::Uuid::nil(), "text": "x" });
    assert_eq!(refused(&call(&client, "update_fact", unknown).await)["status"], 404);
    client.cancel().await.unwrap();
    assert!(content(&program, &space).contains("drinks tea, green tea that is"));
    program.run(&["undo", "--run", &run]).expect(0);
    assert!(content(&program, &space).contains("drinks tea that is green"));
}

#[tokio::test]
async fn a_client_over_http_gets_into_the_space_of_its_key_and_no_other() {
    let (program, [(_, key), (_, other_key)]) = program();
    let server = Server::start(&program);
    let client = over_http(&server, &key).await;
    let run = dream(&client).await;
    let other = over_http(&server, &other_key).await;
    assert_eq!(done(call(&other, "list_facts", json!({})).await)["facts"], json!([]));
    let theirs = call(&other, "dream_submit", json!({ "run_id": run, "result": {} })).await;
    assert_eq!(refused(&theirs)["code"], "DREAM-1009");
    server.open("/mcp").await.expect(401).problem();
}
