//! Converts this API's objects for citations and for the tools it runs, both ways.

use serde_json::{Value, json};

use crate::dialect::hosted::{self, Found, Texts, text};
use crate::{
    Arguments, Block, Citation, CitedSource, Fields, FoundSource, Json, Location, Part, ProviderCall, ProviderData,
    ProviderFailure, ProviderResult, ProviderTool, Span,
};

use super::DIALECT;
use super::content::SIGNATURE;

/// The beginning of signatures that are our seals.
const SEALED: &str = "aWtnMS";

/// Returns the value under the first of two spellings that is present.
fn either<'v>(value: &'v Value, names: [&str; 2]) -> &'v Value {
    let [first, second] = names;
    if value[first].is_null() { &value[second] } else { &value[first] }
}

/// Reads a part that has no form of its own as a call or a result.
pub(super) fn raise(data: &Json) -> Option<Block> {
    let part = data.value();
    let code = either(part, ["executableCode", "executable_code"]);
    let ran = either(part, ["codeExecutionResult", "code_execution_result"]);
    let call = either(part, ["toolCall", "tool_call"]);
    let response = either(part, ["toolResponse", "tool_response"]);
    let there = [code, ran, call, response].into_iter().filter(|member| member.is_object()).count();
    let beside = [
        "text",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
    ];
    if there != 1 || beside.iter().any(|member| !part[*member].is_null()) {
        return None;
    }
    let id = |value: &Value| text(&value["id"]).unwrap_or_default();
    let kind = |value: &Value| text(either(value, ["toolType", "tool_type"])).unwrap_or_default();
    let mut block = if code.is_object() {
        Block::ProviderCall(ProviderCall {
            id: id(code),
            tool: ProviderTool::CodeExecution,
            name: "executableCode".to_owned(),
            arguments: Arguments::from(json!({"language": code["language"], "code": code["code"]})),
            ..ProviderCall::default()
        })
    } else if ran.is_object() {
        let outcome = text(&ran["outcome"]).unwrap_or_default();
        let failed = !matches!(outcome.as_str(), "OUTCOME_OK" | "");
        Block::ProviderResult(ProviderResult {
            call_id: id(ran),
            tool: ProviderTool::CodeExecution,
            content: text(&ran["output"]).map(Block::text).into_iter().collect(),
            error: failed.then_some(ProviderFailure { code: outcome, message: None }),
            ..ProviderResult::default()
        })
    } else if call.is_object() {
        let name = kind(call);
        Block::ProviderCall(ProviderCall {
            id: id(call),
            tool: tool_of(&name),
            name,
            arguments: call["args"].as_object().cloned().unwrap_or_default().into(),
            ..ProviderCall::default()
        })
    } else {
        let tool = tool_of(&kind(response));
        Block::ProviderResult(ProviderResult { call_id: id(response), tool, ..ProviderResult::default() })
    };
    let signature = either(part, ["thoughtSignature", "thought_signature"]);
    if let Some(own) = block.provider_data_mut() {
        match signature.as_str().filter(|signature| signature.starts_with(SEALED)) {
            // Another provider's state, kept where signatures are looked for.
            Some(sealed) => own.set_part(DIALECT, Part::State, SIGNATURE, sealed),
            None => hosted::keep_wire(own, DIALECT, data.clone()),
        }
    }
    Some(block)
}

fn tool_of(name: &str) -> ProviderTool {
    match name {
        "GOOGLE_SEARCH_WEB" | "GOOGLE_SEARCH_IMAGE" | "GOOGLE_SEARCH" => ProviderTool::WebSearch,
        "URL_CONTEXT" => ProviderTool::WebFetch,
        "FILE_SEARCH" => ProviderTool::FileSearch,
        _ => ProviderTool::Other,
    }
}

/// Returns what an answer's grounding says about its text.
pub(crate) fn found(data: &ProviderData, texts: &Texts) -> Found {
    let mut found = Found::default();
    let kept = data.part(DIALECT, Part::Answer);
    let kept = |names: [&str; 2]| names.into_iter().find_map(|name| kept.get(name));
    if let Some(grounding) = kept(["groundingMetadata", "grounding_metadata"]) {
        grounded(grounding.value(), texts, &mut found);
    }
    if let Some(context) = kept(["urlContextMetadata", "url_context_metadata"]) {
        let pages = either(context.value(), ["urlMetadata", "url_metadata"]).as_array().into_iter().flatten();
        let urls = pages.filter_map(|page| text(either(page, ["retrievedUrl", "retrieved_url"])));
        found.sources.extend(urls.map(FoundSource::url));
    }
    if let Some(recited) = kept(["citationMetadata", "citation_metadata"]) {
        let value = recited.value();
        let sources =
            ["citationSources", "citations", "citation_sources"].into_iter().find_map(|name| value[name].as_array());
        for source in sources.into_iter().flatten() {
            let Some(url) = text(&source["uri"]) else { continue };
            let source_of = CitedSource::Url { url, title: text(&source["title"]) };
            let citation = Citation { source: source_of, ..Citation::default() };
            found.citations.extend(texts.cite(span(source), &citation));
        }
    }
    found
}

fn span(value: &Value) -> Option<Span> {
    let number = |names| either(value, names).as_u64().and_then(|number| usize::try_from(number).ok());
    Some(Span::new(number(["startIndex", "start_index"]).unwrap_or(0), number(["endIndex", "end_index"])?))
}

fn grounded(grounding: &Value, texts: &Texts, found: &mut Found) {
    let none = Vec::new();
    let chunks = either(grounding, ["groundingChunks", "grounding_chunks"]).as_array().unwrap_or(&none);
    let mut cited = vec![false; chunks.len()];
    for support in either(grounding, ["groundingSupports", "grounding_supports"]).as_array().unwrap_or(&none) {
        for number in either(support, ["groundingChunkIndices", "grounding_chunk_indices"]).as_array().unwrap_or(&none)
        {
            let place = number.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX);
            let Some(chunk) = chunks.get(place) else { continue };
            if let Some(cited) = cited.get_mut(place) {
                *cited = true;
            }
            found.citations.extend(texts.cite(span(&support["segment"]), &citation_of(chunk)));
        }
    }
    let loose = chunks.iter().zip(cited).filter(|(_, cited)| !cited);
    found.sources.extend(loose.map(|(chunk, _)| FoundSource::from(&citation_of(chunk))));
}

fn citation_of(chunk: &Value) -> Citation {
    let place = |member: &Value| {
        let url = ["uri", "sourceUri", "source_uri"].iter().find_map(|name| text(&member[*name]))?;
        Some(CitedSource::Url { url, title: text(&member["title"]) })
    };
    if let Some(source) = ["web", "maps", "image"].iter().find_map(|name| place(&chunk[*name])) {
        return Citation { source, ..Citation::default() };
    }
    let file = either(chunk, ["retrievedContext", "retrieved_context"]);
    let source = match file.is_object() {
        true => CitedSource::File {
            file_id: text(&file["uri"]),
            filename: text(&file["title"]),
            store: text(either(file, ["fileSearchStore", "file_search_store"])),
            container_id: None,
        },
        false => CitedSource::Other,
    };
    let location =
        either(file, ["pageNumber", "page_number"]).as_u64().map(|page| Location::Pages(page, page.saturating_add(1)));
    Citation { source, location, cited_text: text(&file["text"]), ..Citation::default() }
}

/// Writes a call of another API's tool for a client. Returns `None` if this API has no such tool.
pub(crate) fn write_call(call: &ProviderCall, id: &str) -> Option<Value> {
    let asked = call.arguments.object();
    if call.tool == ProviderTool::CodeExecution {
        let code = ["code", "command"].iter().find_map(|name| asked.get(*name)).and_then(Value::as_str);
        let code = code.unwrap_or_default();
        return Some(json!({"executableCode": {"id": id, "language": "PYTHON", "code": code}}));
    }
    let mut args = asked.clone();
    if call.tool == ProviderTool::WebSearch
        && !args.contains_key("queries")
        && let Some(query) = args.remove("query")
    {
        args.insert("queries".to_owned(), json!([query]));
    }
    Some(json!({"toolCall": {"id": id, "toolType": type_of(call.tool)?, "args": args}}))
}

fn type_of(tool: ProviderTool) -> Option<&'static str> {
    match tool {
        ProviderTool::WebSearch => Some("GOOGLE_SEARCH_WEB"),
        ProviderTool::WebFetch => Some("URL_CONTEXT"),
        ProviderTool::FileSearch => Some("FILE_SEARCH"),
        ProviderTool::CodeExecution
        | ProviderTool::Mcp
        | ProviderTool::ToolSearch
        | ProviderTool::ImageGeneration
        | ProviderTool::Other => None,
    }
}

/// Writes the result of such a call. Returns `None` if this API has no such tool.
pub(crate) fn write_result(result: &ProviderResult, id: &str) -> Option<Value> {
    if result.tool == ProviderTool::CodeExecution {
        let output: String = result.content.iter().filter_map(Block::as_text).collect();
        let outcome = if result.error.is_some() { "OUTCOME_FAILED" } else { "OUTCOME_OK" };
        return Some(json!({"codeExecutionResult": {"id": id, "outcome": outcome, "output": output}}));
    }
    Some(json!({"toolResponse": {"id": id, "toolType": type_of(result.tool)?}}))
}

/// Writes an answer's grounding from these citations, with their spans in all of its text, and these sources.
pub(crate) fn write_grounding(citations: &[(Span, Citation)], sources: &[FoundSource], said: &str) -> Fields {
    let mut chunks: Vec<Value> = Vec::new();
    let mut supports: Vec<Value> = Vec::new();
    let mut seen: std::collections::HashMap<Value, usize> = std::collections::HashMap::new();
    let mut at = 0;
    let mut ordered: Vec<(Span, Vec<usize>)> = Vec::new();
    for (span, citation) in citations {
        let Some(chunk) = write_chunk(citation) else { continue };
        let place = *seen.entry(chunk.clone()).or_insert_with(|| {
            chunks.push(chunk);
            at += 1;
            at - 1
        });
        match ordered.last_mut() {
            Some((last, places)) if last == span => places.push(place),
            _ => ordered.push((*span, vec![place])),
        }
    }
    for (span, places) in ordered {
        let segment = json!({
            "startIndex": span.start, "endIndex": span.end, "text": said.get(span.start..span.end).unwrap_or_default(),
        });
        supports.push(json!({"segment": segment, "groundingChunkIndices": places}));
    }
    for source in sources {
        let title = source.title.as_deref().unwrap_or_default();
        if let Some(url) = &source.url {
            chunks.push(json!({"web": {"uri": url, "title": title}}));
        }
    }
    let mut grounding = Fields::default();
    for (name, list) in [("groundingChunks", chunks), ("groundingSupports", supports)] {
        if !list.is_empty() {
            grounding.set(name, Value::Array(list));
        }
    }
    grounding
}

fn write_chunk(citation: &Citation) -> Option<Value> {
    Some(match &citation.source {
        CitedSource::Url { url, title } => json!({"web": {"uri": url, "title": title.as_deref().unwrap_or_default()}}),
        CitedSource::File { file_id: id, filename: title, .. } | CitedSource::Document { file_id: id, title, .. } => {
            let mut context = serde_json::Map::new();
            let page = match citation.location {
                Some(Location::Pages(page, _)) => Some(json!(page)),
                _ => None,
            };
            let text = citation.cited_text.as_ref().map(|text| json!(text));
            let fields = [
                ("uri", id.as_ref().map(|id| json!(id))),
                ("title", title.as_ref().map(|title| json!(title))),
                ("text", text),
                ("pageNumber", page),
            ];
            context.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            json!({"retrievedContext": context})
        }
        CitedSource::Other => return None,
    })
}
