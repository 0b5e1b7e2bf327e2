//! Answers of `generateContent`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ikigai_core::catalog::rules_for;
use ikigai_core::wire::Ids;
use ikigai_core::{Dialect, Part, ProviderTool, Request};
use serde_json::{Value, json};

use super::library::host;
use super::{Outcome, Page, Run, Told};
use crate::seals::Purpose;
use crate::talk::Talk;
use crate::tree::set;

/// The whole answer.
pub(super) fn write(told: &Told, request: &Request, talk: &Talk<'_>, ids: &mut Ids) -> Value {
    let mut parts = Vec::new();
    for run in &told.runs {
        match run.tool {
            ProviderTool::CodeExecution => code(run, request, talk, ids, &mut parts),
            _ if shows_calls(request) => call(run, request, talk, ids, &mut parts),
            _ => {}
        }
    }
    let said = told.text();
    if !said.is_empty() {
        parts.push(json!({"text": said}));
    }
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0});
    if told.runs.iter().any(|run| run.tool != ProviderTool::CodeExecution) {
        set(&mut candidate, "groundingMetadata", grounding(told));
    }
    let fetched: Vec<Value> = told
        .runs
        .iter()
        .filter(|run| run.tool == ProviderTool::WebFetch)
        .map(|run| {
            let word = if matches!(run.outcome, Some(Outcome::Found(_))) { "SUCCESS" } else { "ERROR" };
            json!({"retrievedUrl": run.input, "urlRetrievalStatus": format!("URL_RETRIEVAL_STATUS_{word}")})
        })
        .collect();
    if !fetched.is_empty() {
        set(&mut candidate, "urlContextMetadata", json!({"urlMetadata": fetched}));
    }
    json!({
        "candidates": [candidate], "modelVersion": request.model,
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
    })
}

/// Whether the request asks for the calls of the provider's tools to be shown.
fn shows_calls(request: &Request) -> bool {
    let config = request.provider_data.part(Dialect::Gemini, Part::Extra).get("toolConfig");
    let names = ["includeServerSideToolInvocations", "include_server_side_tool_invocations"];
    config.is_some_and(|config| names.iter().any(|name| config.value().get(*name) == Some(&Value::Bool(true))))
}

fn signed(mut part: Value, id: &str, request: &Request, talk: &Talk<'_>) -> Value {
    set(&mut part, "thoughtSignature", talk.memory.seals.seal(Purpose::Thought, &[id], &request.model));
    part
}

fn call(run: &Run, request: &Request, talk: &Talk<'_>, ids: &mut Ids, parts: &mut Vec<Value>) {
    let id = ids.next_id();
    let (kind, args) = match run.tool {
        ProviderTool::WebFetch => ("URL_CONTEXT", json!({"urls": [run.input]})),
        ProviderTool::FileSearch => ("FILE_SEARCH", json!({"queries": [run.input]})),
        _ => ("GOOGLE_SEARCH_WEB", json!({"queries": [run.input]})),
    };
    parts.push(signed(json!({"toolCall": {"id": id, "toolType": kind, "args": args}}), &id, request, talk));
    let mut response = json!({"id": id, "toolType": kind});
    if run.tool == ProviderTool::WebSearch {
        set(&mut response, "response", json!({"search_suggestions": suggestions(&run.input)}));
    }
    parts.push(signed(json!({"toolResponse": response}), &id, request, talk));
}

fn code(run: &Run, request: &Request, talk: &Talk<'_>, ids: &mut Ids, parts: &mut Vec<Value>) {
    let mut asked = json!({"language": "PYTHON", "code": run.input});
    let mut result = match &run.outcome {
        Some(Outcome::Ran { output, errors }) if errors.is_empty() => {
            let mut result = json!({"outcome": "OUTCOME_OK"});
            if !output.is_empty() {
                set(&mut result, "output", json!(output));
            }
            result
        }
        Some(Outcome::Ran { errors, .. }) => json!({"outcome": "OUTCOME_FAILED", "output": errors}),
        _ => json!({"outcome": "OUTCOME_DEADLINE_EXCEEDED"}),
    };
    // Models that sign also name their calls.
    if !rules_for(&request.model).signatures_required {
        parts.push(json!({"executableCode": asked}));
        parts.push(json!({"codeExecutionResult": result}));
        return;
    }
    let id = ids.next_id();
    set(&mut asked, "id", json!(id));
    set(&mut result, "id", json!(id));
    parts.push(signed(json!({"executableCode": asked}), &id, request, talk));
    parts.push(json!({"codeExecutionResult": result}));
}

fn suggestions(query: &str) -> String {
    let query: String = query.chars().filter(|c| !"<>&\"".contains(*c)).collect();
    format!("<div class=\"container\"><a class=\"chip\">{query}</a></div>")
}

fn grounding(told: &Told) -> Value {
    let of = |tool: ProviderTool| told.runs.iter().filter(move |run| run.tool == tool);
    let queries: Vec<&str> = of(ProviderTool::WebSearch).map(|run| run.input.as_str()).collect();
    let mut grounding = json!({});
    if let Some(first) = queries.first() {
        set(&mut grounding, "searchEntryPoint", json!({"renderedContent": suggestions(first)}));
        set(&mut grounding, "webSearchQueries", json!(queries));
    }
    let mut chunks = Vec::new();
    for run in &told.runs {
        if let Some(Outcome::Found(pages)) = &run.outcome {
            chunks.extend(pages.iter().map(|page| chunk(run.tool, page)));
        }
    }
    let (mut supports, mut start) = (Vec::new(), 0);
    for piece in &told.pieces {
        let end = start + piece.text.len();
        if !piece.cites.is_empty() {
            let mut segment = json!({"endIndex": end, "text": piece.text});
            // Zero is not written.
            if start > 0 {
                set(&mut segment, "startIndex", json!(start));
            }
            supports.push(json!({"segment": segment, "groundingChunkIndices": piece.cites}));
        }
        start = end;
    }
    if !chunks.is_empty() {
        set(&mut grounding, "groundingChunks", Value::Array(chunks));
    }
    if !supports.is_empty() {
        set(&mut grounding, "groundingSupports", Value::Array(supports));
    }
    grounding
}

fn chunk(tool: ProviderTool, page: &Page) -> Value {
    match tool {
        ProviderTool::FileSearch => json!({
            "retrievedContext": {"title": page.title, "text": page.text, "fileSearchStore": "fileSearchStores/sim"},
        }),
        ProviderTool::WebFetch => json!({"web": {"uri": page.url, "title": page.title}}),
        // The search hides where it leads, and the title is a domain.
        _ => {
            let redirect = URL_SAFE_NO_PAD.encode(&page.url);
            let uri = format!("https://vertexaisearch.cloud.google.com/grounding-api-redirect/{redirect}");
            json!({"web": {"uri": uri, "title": host(&page.url)}})
        }
    }
}
