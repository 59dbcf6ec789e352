//! A run as a page for people: plain, readable without styles, and made of the same report as the JSON.
//!
//! **Invariant:** everything that is put into the page is escaped by the template, and nothing in it is loaded from anywhere.

use axum::Json;
use axum::http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};
use schemars::{Schema, SchemaGenerator};

use super::api::Answer;
use crate::face::report::RunView;

/// A run, for a program or for a person.
pub(super) enum RunPage {
    Json(RunView),
    Html(RunView),
}

impl Answer for RunPage {
    fn schema(schemas: &mut SchemaGenerator) -> Option<Schema> {
        Some(schemas.subschema_for::<RunView>())
    }

    fn respond(self, status: StatusCode) -> Response {
        match self {
            Self::Json(run) => (status, Json(run)).into_response(),
            Self::Html(run) => {
                let mut response = (status, Html(page(&run).into_string())).into_response();
                let headers = response.headers_mut();
                headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
                headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
                response
            }
        }
    }
}

/// What a browser may do with the page: show it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}\
    th{text-align:left;padding-right:2rem;font-weight:normal}td{vertical-align:top}code{font-size:.9em}";

fn page(run: &RunView) -> Markup {
    let ended = run.ended_at.map_or_else(|| "not yet".to_owned(), |at| at.to_string());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Dream " (run.run_id) ": " (run.status) }
                style { (STYLE) }
            }
            body {
                h1 { "This dream is " (words(&run.status)) }
                p { "Run " code { (run.run_id) } " over space " code { (run.space_id) } }
                p { "Started " (run.started_at) ", ended " (ended) }
                @if let Some(failure) = &run.failure { p { "It failed: " (failure) } }
                (counts(run))
                (skipped(run))
                @if let Some(model) = &run.report.model { p { "Model: " (model.summary) } }
                @if !run.report.notes.is_empty() {
                    h2 { "Notes" }
                    ul { @for note in &run.report.notes { li { (note) } } }
                }
            }
        }
    }
}

fn words(status: &str) -> &str {
    match status {
        "awaiting_client" => "waiting for the agent's answer",
        "undone" => "taken back",
        other => other,
    }
}

fn counts(run: &RunView) -> Markup {
    let report = &run.report;
    let tidied = &report.housekeeping;
    let housekeeping = [
        ("Facts past their end", tidied.expired),
        ("Scratch facts that nobody recalled", tidied.stale),
        ("Copies merged", tidied.duplicates),
        ("Actions expired", tidied.actions_expired),
        ("Values deleted", tidied.key_values_deleted),
    ];
    let consolidation = [
        ("Facts merged away", report.merges),
        ("Facts, digest and profile updated", report.updates),
        ("Contradictions recorded", report.contradictions),
        ("Proposals recorded", report.proposals),
    ];
    html! {
        h2 { "Housekeeping" }
        (table(&housekeeping))
        h2 { "Consolidation" }
        (table(&consolidation))
    }
}

fn table(rows: &[(&str, u32)]) -> Markup {
    html! { table { @for (what, count) in rows { tr { th scope="row" { (what) } td { (count) } } } } }
}

fn skipped(run: &RunView) -> Markup {
    html! {
        h2 { "Skipped" }
        @if run.report.skipped.is_empty() { p { "Nothing" } }
        ul {
            @for skipped in &run.report.skipped {
                li {
                    (skipped.what) ": " (skipped.reason)
                    @for fact in &skipped.facts { " " code { (fact) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dream_core::clock::Moment;
    use dream_core::id::{NamespaceId, RunId};
    use dream_core::realm::space::report::{Skipped, SpaceReport, SpaceRun};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_is_put_into_the_page_is_escaped() {
        let mut report = SpaceReport::default();
        report.notes.push("<script>alert(1)</script>".to_owned());
        report.skipped.push(Skipped { what: "\"><b>".to_owned(), reason: "&".to_owned(), facts: Vec::new() });
        let run = SpaceRun {
            run_id: RunId(Uuid::nil()),
            space_id: NamespaceId(Uuid::nil()).0,
            status: "done".to_owned(),
            started_at: Moment::from_micros(0),
            ended_at: None,
            failure: Some("<i>".to_owned()),
            report,
        };
        let page = page(&run.into()).into_string();
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
        for raw in ["<script>", "<b>", "<i>"] {
            assert!(!page.contains(raw), "{raw} in {page}");
        }
    }
}
