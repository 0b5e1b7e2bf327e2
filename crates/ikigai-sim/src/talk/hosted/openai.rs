//! Answers of OpenAI's two APIs, and of servers that copy one of them.

use ikigai_core::wire::Ids;
use ikigai_core::{Dialect, Part, ProviderTool, Request};
use serde_json::{Value, json};

use super::library::host;
use super::{Outcome, Page, Run, Told};
use crate::generate::CREATED;
use crate::models;
use crate::tree::set;

/// A link that the model wrote into its text, in characters.
struct Link<'a> {
    page: &'a Page,
    is_file: bool,
    start: usize,
    end: usize,
}

/// The text, with a link after each passage that cites a page. Files are not linked.
fn linked(told: &Told) -> (String, Vec<Link<'_>>) {
    let pages = told.pages();
    let is_file = told.runs.iter().any(|run| run.tool == ProviderTool::FileSearch);
    let (mut text, mut links, mut length) = (String::new(), Vec::new(), 0);
    for piece in &told.pieces {
        text.push_str(&piece.text);
        length += piece.text.chars().count();
        for page in piece.cites.iter().filter_map(|place| pages.get(*place).copied()) {
            let printed = if is_file { String::new() } else { format!("([{}]({}))", host(&page.url), address(page)) };
            if !is_file {
                text.push(' ');
                length += 1;
            }
            let start = length;
            text.push_str(&printed);
            length += printed.chars().count();
            links.push(Link { page, is_file, start, end: length });
        }
    }
    (text, links)
}

/// The URL, with what the provider adds.
fn address(page: &Page) -> String {
    format!("{}{}utm_source=openai", page.url, if page.url.contains('?') { '&' } else { '?' })
}

/// A whole answer of the Responses API.
pub(super) fn response(told: &Told, request: &Request, ids: &mut Ids) -> Value {
    let extra = request.provider_data.part(Dialect::OpenaiResponses, Part::Extra);
    let asked: Vec<String> = extra.get("include").and_then(|list| list.to().ok()).unwrap_or_default();
    let includes = |name: &str| asked.iter().any(|asked| asked == name);
    let mut output: Vec<Value> = told.runs.iter().map(|run| item(run, &includes, ids)).collect();
    let (text, links) = linked(told);
    let annotations: Vec<Value> = links
        .iter()
        .map(|link| match link.is_file {
            true => json!({
                "type": "file_citation", "file_id": link.page.url, "filename": link.page.title, "index": link.end,
            }),
            false => json!({
                "type": "url_citation", "start_index": link.start, "end_index": link.end, "title": link.page.title,
                "url": address(link.page),
            }),
        })
        .collect();
    output.push(json!({
        "id": format!("msg_{}", ids.next_id()), "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}],
    }));
    let mut response = json!({
        "id": "resp_sim", "object": "response", "created_at": CREATED, "status": "completed", "model": request.model,
        "output": output, "background": false, "error": null, "incomplete_details": null, "instructions": null,
        "max_output_tokens": null, "metadata": {}, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": null,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": null,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0,
        },
    });
    // Opened pages are not counted.
    let searches = told.count(ProviderTool::WebSearch);
    if searches > 0 {
        set(&mut response, "tool_usage", json!({"web_search": {"num_requests": searches}}));
    }
    response
}

fn item(run: &Run, includes: &dyn Fn(&str) -> bool, ids: &mut Ids) -> Value {
    let failed = matches!(run.outcome, Some(Outcome::Failed(_)));
    let status = if failed { "failed" } else { "completed" };
    let found: &[Page] = match &run.outcome {
        Some(Outcome::Found(pages)) => pages,
        _ => &[],
    };
    match run.tool {
        ProviderTool::CodeExecution => {
            let logs = match &run.outcome {
                Some(Outcome::Ran { output, errors }) => format!("{output}{errors}"),
                _ => String::new(),
            };
            let outputs = includes("code_interpreter_call.outputs").then(|| match logs.is_empty() {
                true => json!([]),
                false => json!([{"type": "logs", "logs": logs}]),
            });
            json!({
                "id": format!("ci_{}", ids.next_id()), "type": "code_interpreter_call", "status": status,
                "code": run.input, "container_id": format!("cntr_{}", ids.next_id()), "outputs": outputs,
            })
        }
        ProviderTool::FileSearch => {
            let results: Value = found
                .iter()
                .map(|file| {
                    json!({
                        "attributes": {}, "file_id": file.url, "filename": file.title, "score": 0.9, "text": file.text,
                    })
                })
                .collect();
            let results = includes("file_search_call.results").then_some(results);
            json!({
                "id": format!("fs_{}", ids.next_id()), "type": "file_search_call", "status": status,
                "queries": [run.input], "results": results,
            })
        }
        ProviderTool::WebFetch => json!({
            "id": format!("ws_{}", ids.next_id()), "type": "web_search_call", "status": status,
            "action": {"type": "open_page", "url": run.input},
        }),
        _ => {
            let mut action = json!({"type": "search", "queries": [run.input], "query": run.input});
            if includes("web_search_call.action.sources") {
                set(
                    &mut action,
                    "sources",
                    found.iter().map(|page| json!({"type": "url", "url": page.url})).collect::<Value>(),
                );
            }
            json!({
                "id": format!("ws_{}", ids.next_id()), "type": "web_search_call", "status": status, "action": action,
            })
        }
    }
}

/// A whole answer of Chat Completions. OpenRouter's sources are tied to no passage, and include their text.
pub(super) fn completion(told: &Told, request: &Request) -> Value {
    let cite = |start: usize, end: usize, url: &str, title: &str| {
        let cited = json!({"start_index": start, "end_index": end, "url": url, "title": title});
        json!({"type": "url_citation", "url_citation": cited})
    };
    let (text, annotations): (String, Vec<Value>) = match models::is_openais(&request.model) {
        true => {
            let (text, links) = linked(told);
            let list = links.iter().map(|link| cite(link.start, link.end, &address(link.page), &link.page.title));
            (text, list.collect())
        }
        false => {
            let list = told.pages().into_iter().map(|page| {
                let mut one = cite(0, 0, &page.url, &page.title);
                if let Some(cited) = one.get_mut("url_citation") {
                    set(cited, "content", page.text.clone());
                }
                one
            });
            (told.text(), list.collect())
        }
    };
    let mut usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    if !models::is_openais(&request.model) {
        let searches = told.count(ProviderTool::WebSearch);
        set(
            &mut usage,
            "server_tool_use_details",
            json!({
                "web_search_requests": searches, "tool_calls_requested": searches, "tool_calls_executed": searches,
            }),
        );
    }
    json!({
        "id": "chatcmpl-sim", "object": "chat.completion", "created": CREATED, "model": request.model,
        "choices": [{
            "index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": text, "refusal": null, "annotations": annotations},
        }],
        "usage": usage,
    })
}
