//! The worker as Kubernetes sees it: health, readiness, and a shutdown that cuts nothing off.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::lab::{Lab, eventually, input, result};
use crate::support::world::World;

fn get(address: &str, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let code = answer.split(' ').nth(1)?.parse().ok()?;
    Some((code, answer))
}

/// An address where nobody listens yet.
pub fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_says_that_it_lives_and_that_it_is_ready() {
    let lab = Lab::with(&World::new(20).lines()).await;
    let address = free_address();
    let _worker = lab.worker(&["--health", &address]);
    assert_eq!(get(&address, "/healthz").unwrap().0, 200);
    assert_eq!(get(&address, "/readyz").unwrap().0, 200);
    assert_eq!(get(&address, "/nothing").unwrap().0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_told_to_stop_ends_its_groups_and_another_goes_on_at_once() {
    let lab = Lab::with(&World::new(12_000).lines()).await;
    let mut first = lab.worker(&["--grace-seconds", "10"]);
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    first.signal("TERM");
    let code = eventually("the worker ends", || first.ended());
    assert_eq!(code, 0, "{}", first.log());
    assert!(first.log().contains("nothing was cut off"), "{}", first.log());
    let _second = lab.worker(&[]);
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.state.to_string(), "completed");
    let takeovers: i64 = sqlx::query_scalar("SELECT count(*) FROM dream.op WHERE state = 'sealed'")
        .fetch_one(&mut lab.database().await)
        .await
        .unwrap();
    assert_eq!(takeovers, 0, "nothing is left");
}
