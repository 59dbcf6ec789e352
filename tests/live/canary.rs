//! Memory text planted in every text column appears in no history, log or error, whatever fails.

use prost::Message as _;
use serde_json::{Value, json};
use temporalio_client::{WorkflowFetchHistoryOptions, WorkflowListOptions};

use crate::lab::{Lab, input, result};
use crate::support::world::World;

/// What must not be seen. It is looked for without regard to case, because names are folded on the way.
const CANARY: &str = "canaryqx";

/// A world in which every text holds the canary.
fn planted() -> String {
    let mut world = World::new(120);
    for row in world.entities.iter_mut().chain(&mut world.relationships) {
        for field in ["name", "description", "entity_type", "relationship_type"] {
            if let Some(text) = row.get(field).and_then(Value::as_str) {
                row[field] = format!("{text} {CANARY}").into();
            }
        }
        let free = if row["kind"] == "entity" { "attributes" } else { "properties" };
        row[free] = json!({ CANARY: CANARY });
        row["metadata"] = json!({ CANARY: [CANARY] });
    }
    for chunk in &mut world.chunks {
        chunk["content"] = format!("{CANARY} {}", chunk["content"]).into();
    }
    world.lines()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_canary_is_seen_nowhere_whatever_fails() {
    let embedder = wiremock::MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(|request: &wiremock::Request| {
            wiremock::ResponseTemplate::new(400).set_body_bytes(request.body.clone())
        })
        .mount(&embedder)
        .await;
    let mut lab = Lab::with(&planted()).await;
    lab.program.set("DREAM_EMBEDDER_URL", &embedder.uri());
    lab.program.set("DREAM_EMBEDDER_MODEL", "test-16");
    lab.program.set("RUST_LOG", "debug");
    let worker = lab.worker(&[]);
    let mut said = String::new();

    let applied = lab.dream(input(json!({ "mode": "apply" }))).await;
    assert!(applied.ops["applied"] > 10, "{:?}", applied.ops);
    said.push_str(&format!("{:?}", lab.program.run(&["undo", "--run", &applied.run_id, "--json"]).stdout));

    // The database raises errors that quote the row, as a constraint or a trigger of somebody else may.
    let raise = "CREATE FUNCTION quote_row() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'no: %', row_to_json(OLD) USING DETAIL = row_to_json(NEW), HINT = OLD.name; END $$";
    let mut database = lab.database().await;
    sqlx::query(raise).execute(&mut database).await.unwrap();
    sqlx::query("CREATE TRIGGER quoting BEFORE UPDATE ON entities FOR EACH ROW EXECUTE FUNCTION quote_row()")
        .execute(&mut database)
        .await
        .unwrap();
    sqlx::query("DELETE FROM dream.verdict").execute(&mut database).await.unwrap();
    let failing = lab.start(input(json!({ "mode": "apply" }))).await;
    match tokio::time::timeout(crate::lab::PATIENCE, result(&failing))
        .await
        .expect("the run ends although every op fails")
    {
        Ok(reported) => assert!(reported.ops["failed"] > 10, "{:?}", reported.ops),
        Err(error) => said.push_str(&format!("{error:?}")),
    }
    for command in [&["status"][..], &["diff"], &["doctor"]] {
        let run: &[&str] = if command == ["doctor"] { &[] } else { &[&applied.run_id] };
        let answer = lab.program.run(&[command, run].concat());
        said.push_str(&answer.stderr);
    }
    said.push_str(&worker.log());
    assert!(!said.to_lowercase().contains(CANARY), "{}", around(&said));
    assert!(histories(&lab).await > 1);
}

/// Looks through every history of the lab; answers how many there are.
async fn histories(lab: &Lab) -> usize {
    use futures::TryStreamExt as _;
    let query = format!("TaskQueue = '{}'", lab.queue);
    let mut found = Vec::new();
    for _ in 0..100 {
        let list = lab.client.list_workflows(query.clone(), WorkflowListOptions::default());
        found = list.try_collect::<Vec<_>>().await.unwrap();
        if found.len() > 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    for workflow in &found {
        let handle = lab.client.get_workflow_handle::<temporalio_client::UntypedWorkflow>(workflow.id().to_owned());
        for event in handle.fetch_history(WorkflowFetchHistoryOptions::default()).into_events().await.unwrap() {
            // Payloads are bytes; what they say stands in the encoded event as it is.
            let text = String::from_utf8_lossy(&event.encode_to_vec()).to_lowercase();
            assert!(!text.contains(CANARY), "{}: {}", workflow.id(), around(&text));
        }
    }
    found.len()
}

/// The place where the canary was seen.
fn around(text: &str) -> String {
    let lower = text.to_lowercase();
    let at = lower.find(CANARY).unwrap_or_default();
    String::from_utf8_lossy(&lower.as_bytes()[at.saturating_sub(300)..(at + 300).min(lower.len())]).into_owned()
}
