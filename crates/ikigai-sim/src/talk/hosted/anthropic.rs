//! Answers of the Messages API.

use ikigai_core::wire::Ids;
use ikigai_core::{BuiltIn, Dialect, Part, ProviderTool, Request, Tool};
use serde_json::{Value, json};

use super::{Outcome, Page, Run, Told};
use crate::seals::Purpose;
use crate::talk::Talk;
use crate::tree::{at, set};

/// The number of characters of a page that are cited.
const CITED: usize = 150;

/// The whole message.
pub(super) fn write(told: &Told, request: &Request, talk: &Talk<'_>, ids: &mut Ids) -> Value {
    let mut content = Vec::new();
    for run in &told.runs {
        let id = run.earlier.clone().unwrap_or_else(|| call_id(ids));
        let name = name(run.tool, request);
        if run.earlier.is_none() {
            let input = match run.tool {
                ProviderTool::WebFetch => json!({"url": run.input}),
                ProviderTool::CodeExecution if name == "code_execution" => json!({"code": run.input}),
                ProviderTool::CodeExecution => json!({"command": run.input}),
                _ => json!({"query": run.input}),
            };
            content.push(json!({
                "type": "server_tool_use", "id": id, "name": name, "input": input, "caller": {"type": "direct"},
            }));
        }
        if let Some(outcome) = &run.outcome {
            content.push(json!({
                "type": format!("{name}_tool_result"), "tool_use_id": id,
                "content": result(run, name, outcome, talk), "caller": {"type": "direct"},
            }));
        }
    }
    let pages = told.pages();
    let of_fetch = told.runs.iter().any(|run| run.tool == ProviderTool::WebFetch);
    for piece in told.pieces.iter().filter(|piece| !piece.text.is_empty()) {
        let cited = piece.cites.iter().filter_map(|place| Some((*place, *pages.get(*place)?)));
        let citations: Vec<Value> = match of_fetch {
            false => cited.map(|(_, page)| citation(page, talk)).collect(),
            true if cites_documents(request) => cited.map(|(place, page)| passage(place, page)).collect(),
            true => Vec::new(),
        };
        content.push(match citations.is_empty() {
            true => json!({"type": "text", "text": piece.text}),
            false => json!({"type": "text", "text": piece.text, "citations": citations}),
        });
    }
    let mut usage = json!({"input_tokens": 0, "output_tokens": 0});
    let (searches, fetches) = (told.count(ProviderTool::WebSearch), told.count(ProviderTool::WebFetch));
    if searches + fetches > 0 {
        set(&mut usage, "server_tool_use", json!({"web_search_requests": searches, "web_fetch_requests": fetches}));
    }
    let reason = if told.paused { "pause_turn" } else { "end_turn" };
    let mut message = json!({
        "id": "msg_sim", "type": "message", "role": "assistant", "model": request.model, "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if told.runs.iter().any(|run| run.tool == ProviderTool::CodeExecution) {
        let id = format!("container_{}", call_id(ids).trim_start_matches("srvtoolu_"));
        set(&mut message, "container", json!({"id": id, "expires_at": "2026-12-31T00:00:00Z"}));
    }
    message
}

/// The API allows only letters, digits and underscores.
fn call_id(ids: &mut Ids) -> String {
    format!("srvtoolu_{}", ids.next_id().replace('-', "_"))
}

/// The first version of the code tool has another name.
fn name(tool: ProviderTool, request: &Request) -> &'static str {
    let is_first = request.tools.iter().any(|tool| match tool {
        Tool::BuiltIn(tool @ BuiltIn::CodeExecution(_)) => {
            let entry = tool.provider_data().part(Dialect::Anthropic, Part::Shape).get("entry");
            entry.is_some_and(|entry| at(entry.value(), "/type") == "code_execution_20250522")
        }
        _ => false,
    });
    match tool {
        ProviderTool::WebFetch => "web_fetch",
        ProviderTool::CodeExecution if is_first => "code_execution",
        ProviderTool::CodeExecution => "bash_code_execution",
        _ => "web_search",
    }
}

fn result(run: &Run, name: &str, outcome: &Outcome, talk: &Talk<'_>) -> Value {
    match outcome {
        Outcome::Failed(code) => json!({"type": format!("{name}_tool_result_error"), "error_code": code}),
        Outcome::Ran { output, errors } => json!({
            "type": format!("{name}_result"), "stdout": output, "stderr": errors,
            "return_code": i32::from(!errors.is_empty()), "content": [],
        }),
        Outcome::Found(pages) if run.tool == ProviderTool::WebFetch => {
            let Some(page) = pages.first() else { return Value::Null };
            json!({
                "type": "web_fetch_result", "url": page.url, "retrieved_at": "2026-01-31T12:00:00Z",
                "content": {
                    "type": "document", "title": page.title, "citations": {"enabled": false},
                    "source": {"type": "text", "media_type": "text/plain", "data": page.text},
                },
            })
        }
        Outcome::Found(pages) => pages
            .iter()
            .map(|page| {
                let sealed = talk.memory.seals.seal(Purpose::Found, &[&page.url, &page.title], &page.text);
                json!({
                    "type": "web_search_result", "url": page.url, "title": page.title, "encrypted_content": sealed,
                    "page_age": page.date,
                })
            })
            .collect(),
    }
}

fn citation(page: &Page, talk: &Talk<'_>) -> Value {
    let mut cited: String = page.text.chars().take(CITED).collect();
    if cited.len() < page.text.len() {
        cited.push_str("...");
    }
    let sealed = talk.memory.seals.seal(Purpose::Cited, &[&page.url, &cited], "");
    json!({
        "type": "web_search_result_location", "cited_text": cited, "url": page.url, "title": page.title,
        "encrypted_index": sealed,
    })
}

fn passage(place: usize, page: &Page) -> Value {
    json!({
        "type": "char_location", "cited_text": page.text, "document_index": place, "document_title": page.title,
        "file_id": null, "start_char_index": 0, "end_char_index": page.text.chars().count(),
    })
}

/// Whether the request asks for citations of the pages that are fetched.
fn cites_documents(request: &Request) -> bool {
    request.tools.iter().any(|tool| match tool {
        Tool::BuiltIn(BuiltIn::WebFetch(fetch)) => fetch.citations == Some(true),
        _ => false,
    })
}
