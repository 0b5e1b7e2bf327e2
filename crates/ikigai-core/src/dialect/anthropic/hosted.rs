//! Converts this API's objects for citations and for the tools it runs, both ways.

use serde_json::{Value, json};

use crate::dialect::hosted::{self, at, text};
use crate::dialect::seal::Sealed;
use crate::{
    Arguments, Block, Citation, CitedSource, Document, Fields, FoundSource, Json, Location, Other, ProviderCall,
    ProviderData, ProviderFailure, ProviderResult, ProviderTool, Source,
};

use super::DIALECT;
use super::response::{BELONGS_TO, Neighbour};

/// The prefix of the ids of calls that this API makes.
pub(crate) const CALL_ID: &str = "srvtoolu_";

/// Reads an object that has no form of its own: as a call, as a result, or kept whole.
pub(super) fn raise(data: Json) -> Block {
    let value = data.value();
    let kind = value["type"].as_str().unwrap_or_default();
    let mut block = match kind {
        "server_tool_use" | "mcp_tool_use" if value["id"].is_string() => Block::ProviderCall(call(kind, &data)),
        _ if kind.ends_with("_tool_result") && value["tool_use_id"].is_string() => {
            Block::ProviderResult(result(kind, value))
        }
        _ => return Block::Other(Other { dialect: DIALECT, data }),
    };
    if let Some(own) = block.provider_data_mut() {
        hosted::keep_wire(own, DIALECT, data);
    }
    block
}

fn call(kind: &str, data: &Json) -> ProviderCall {
    let value = data.value();
    let name = text(&value["name"]).unwrap_or_default();
    let tool = if kind == "mcp_tool_use" { ProviderTool::Mcp } else { tool_of(&name) };
    let input = data.to::<Fields>().ok().and_then(|mut fields| fields.remove("input"));
    let arguments = match input {
        Some(input) if input.is_object() => Arguments::from(input),
        // A call that the token limit cut off.
        Some(input) => input.as_str().map(|text| Arguments::from_text(text.into_owned())).unwrap_or_default(),
        None => Arguments::default(),
    };
    ProviderCall {
        id: text(&value["id"]).unwrap_or_default(),
        tool,
        name,
        arguments,
        caller: text(at(value, "/caller/tool_id")),
        server: text(&value["server_name"]),
        ..ProviderCall::default()
    }
}

/// Returns the tool for one of this API's names.
fn tool_of(name: &str) -> ProviderTool {
    match name {
        "web_search" => ProviderTool::WebSearch,
        "web_fetch" => ProviderTool::WebFetch,
        "mcp" => ProviderTool::Mcp,
        _ if name.ends_with("code_execution") => ProviderTool::CodeExecution,
        _ if name.starts_with("tool_search") => ProviderTool::ToolSearch,
        _ => ProviderTool::Other,
    }
}

fn result(kind: &str, value: &Value) -> ProviderResult {
    let content = &value["content"];
    let mut result = ProviderResult {
        call_id: text(&value["tool_use_id"]).unwrap_or_default(),
        tool: tool_of(kind.trim_end_matches("_tool_result").trim_end_matches("_tool")),
        ..ProviderResult::default()
    };
    if let Some(code) = text(&content["error_code"]) {
        result.error = Some(ProviderFailure { code, message: text(&content["error_message"]) });
    } else if value["is_error"] == true {
        result.error = Some(ProviderFailure { code: "tool_error".to_owned(), message: None });
    }
    match result.tool {
        ProviderTool::WebSearch => {
            let found = content.as_array().into_iter().flatten();
            result.sources = found
                .map(|found| FoundSource {
                    url: text(&found["url"]),
                    title: text(&found["title"]),
                    date: text(&found["page_age"]),
                    ..FoundSource::default()
                })
                .collect();
        }
        ProviderTool::WebFetch => {
            if let Some(url) = text(&content["url"]) {
                let title = text(at(content, "/content/title"));
                let date = text(&content["retrieved_at"]);
                result.sources.push(FoundSource { title, date, ..FoundSource::url(url) });
            }
            result.content.extend(document(&content["content"]));
        }
        ProviderTool::CodeExecution => {
            let said = ["stdout", "stderr", "content"].into_iter().filter_map(|name| text(&content[name]));
            result.content = said.filter(|text| !text.is_empty()).map(Block::text).collect();
        }
        ProviderTool::ToolSearch => {
            let tools = content["tool_references"].as_array().into_iter().flatten();
            result.content = tools.filter_map(|tool| text(&tool["tool_name"])).map(Block::text).collect();
        }
        ProviderTool::Mcp => {
            let parts = content.as_array().into_iter().flatten().filter_map(|part| text(&part["text"]));
            result.content = text(content).into_iter().chain(parts).map(Block::text).collect();
        }
        ProviderTool::FileSearch | ProviderTool::ImageGeneration | ProviderTool::Other => {}
    }
    result
}

/// Reads the document that was fetched.
fn document(value: &Value) -> Option<Block> {
    let (media_type, data) = (text(at(value, "/source/media_type"))?, text(at(value, "/source/data"))?);
    let source = match at(value, "/source/type").as_str()? {
        "text" => Source::Text { media_type, text: data },
        "base64" => Source::Base64 { media_type, data },
        _ => return None,
    };
    let name = text(&value["title"]);
    Some(Block::Document(Document { source, name, cache: None, provider_data: ProviderData::default() }))
}

/// Reads a citation.
pub(super) fn citation(wire: Json) -> Citation {
    let value = wire.value();
    let title = text(&value["title"]);
    let range = |name: &str| Some((value[format!("start_{name}")].as_u64()?, value[format!("end_{name}")].as_u64()?));
    let document = || CitedSource::Document {
        index: value["document_index"].as_u64(),
        title: text(&value["document_title"]),
        file_id: text(&value["file_id"]),
    };
    let (source, location) = match value["type"].as_str().unwrap_or_default() {
        "web_search_result_location" => (text(&value["url"]).map(|url| CitedSource::Url { url, title }), None),
        "char_location" => (Some(document()), range("char_index").map(|(start, end)| Location::Chars(start, end))),
        "page_location" => (Some(document()), range("page_number").map(|(start, end)| Location::Pages(start, end))),
        "content_block_location" => {
            (Some(document()), range("block_index").map(|(start, end)| Location::Blocks(start, end)))
        }
        "search_result_location" => {
            let file =
                CitedSource::File { file_id: text(&value["source"]), filename: title, store: None, container_id: None };
            (Some(file), range("block_index").map(|(start, end)| Location::Blocks(start, end)))
        }
        _ => (None, None),
    };
    let cited_text = text(&value["cited_text"]).filter(|text| !text.is_empty());
    Citation { source: source.unwrap_or_default(), location, cited_text, ..Citation::default() }
        .with_wire(DIALECT, wire)
}

/// Writes a citation for a client. It has every field that strict clients require; those for sealed state are empty.
pub(crate) fn write_citation(citation: &Citation) -> Option<Value> {
    let cited_text = citation.cited_text.as_deref().unwrap_or_default();
    Some(match (&citation.source, citation.location) {
        (CitedSource::Url { url, title }, _) => json!({
            "type": "web_search_result_location", "cited_text": cited_text, "url": url, "title": title,
            "encrypted_index": "",
        }),
        (CitedSource::Document { index, title, file_id }, location) => {
            let index = index.unwrap_or_default();
            let (kind, names, (start, end)) = match location {
                Some(Location::Pages(start, end)) => ("page_location", "page_number", (start, end)),
                Some(Location::Blocks(start, end)) => ("content_block_location", "block_index", (start, end)),
                Some(Location::Chars(start, end)) => ("char_location", "char_index", (start, end)),
                None => ("char_location", "char_index", (0, 0)),
            };
            json!({
                "type": kind, "cited_text": cited_text, "document_index": index, "document_title": title,
                "file_id": file_id, format!("start_{names}"): start, format!("end_{names}"): end,
            })
        }
        (CitedSource::File { file_id, filename, .. }, location) => {
            let source = file_id.as_deref().or(filename.as_deref()).unwrap_or_default();
            let (start, end) = match location {
                Some(Location::Blocks(start, end)) => (start, end),
                _ => (0, 0),
            };
            json!({
                "type": "search_result_location", "cited_text": cited_text, "source": source, "title": filename,
                "search_result_index": 0, "start_block_index": start, "end_block_index": end,
            })
        }
        (CitedSource::Other, _) => return None,
    })
}

/// Writes the block that carries the state of the block after it.
pub(crate) fn carrier(mut sealed: Sealed) -> Value {
    sealed.note.set(BELONGS_TO, Json::of(&Neighbour::Next).unwrap_or_default());
    json!({"type": "redacted_thinking", "data": sealed.to_text()})
}

/// Writes a call of another API's tool for a client. Returns `None` if this API has no such tool.
pub(crate) fn write_call(call: &ProviderCall, id: &str) -> Option<Value> {
    let input = call.arguments.object();
    let name = match call.tool {
        ProviderTool::WebSearch => "web_search",
        ProviderTool::WebFetch => "web_fetch",
        ProviderTool::CodeExecution => "code_execution",
        ProviderTool::Mcp => {
            let server = call.server.as_deref().unwrap_or_default();
            return Some(json!({
                "type": "mcp_tool_use", "id": id, "name": call.name, "server_name": server, "input": input,
            }));
        }
        ProviderTool::FileSearch | ProviderTool::ToolSearch | ProviderTool::ImageGeneration | ProviderTool::Other => {
            return None;
        }
    };
    Some(json!({"type": "server_tool_use", "id": id, "name": name, "input": input, "caller": {"type": "direct"}}))
}

/// Writes the result of such a call. Returns `None` if this API has no such tool.
pub(crate) fn write_result(result: &ProviderResult, id: &str) -> Option<Value> {
    let said: String = result.content.iter().filter_map(Block::as_text).collect();
    let failed = |kind: &str| {
        let code = result.error.as_ref()?.code.as_str();
        let known =
            ["invalid_tool_input", "max_uses_exceeded", "too_many_requests", "query_too_long", "url_not_accessible"];
        let code = if known.contains(&code) { code } else { "unavailable" };
        Some(json!({"type": format!("{kind}_tool_result_error"), "error_code": code}))
    };
    let (kind, content) = match result.tool {
        ProviderTool::WebSearch => (
            "web_search",
            failed("web_search").unwrap_or_else(|| result.sources.iter().filter_map(write_source).collect()),
        ),
        ProviderTool::WebFetch => (
            "web_fetch",
            failed("web_fetch").unwrap_or_else(|| {
                let url = result.sources.first().and_then(|source| source.url.as_deref()).unwrap_or_default();
                let title = result.sources.first().and_then(|source| source.title.as_deref());
                json!({
                    "type": "web_fetch_result", "url": url, "retrieved_at": null,
                    "content": {
                        "type": "document", "title": title, "citations": {"enabled": false},
                        "source": {"type": "text", "media_type": "text/plain", "data": said},
                    },
                })
            }),
        ),
        ProviderTool::CodeExecution => (
            "code_execution",
            json!({
                "type": "code_execution_result", "stdout": said, "stderr": "",
                "return_code": i32::from(result.error.is_some()), "content": [],
            }),
        ),
        ProviderTool::Mcp => {
            return Some(json!({
                "type": "mcp_tool_result", "tool_use_id": id, "is_error": result.error.is_some(),
                "content": [{"type": "text", "text": said, "citations": null}],
            }));
        }
        ProviderTool::FileSearch | ProviderTool::ToolSearch | ProviderTool::ImageGeneration | ProviderTool::Other => {
            return None;
        }
    };
    Some(json!({
        "type": format!("{kind}_tool_result"), "tool_use_id": id, "content": content, "caller": {"type": "direct"},
    }))
}

fn write_source(source: &FoundSource) -> Option<Value> {
    let title = source.title.as_deref().unwrap_or_default();
    Some(json!({
        "type": "web_search_result", "url": source.url.as_deref()?, "title": title, "encrypted_content": "",
        "page_age": source.date,
    }))
}

/// Writes a search for sources that belong to no call; its query is unknown.
pub(crate) fn write_search(sources: &[FoundSource], id: &str) -> [Value; 2] {
    let results: Value = sources.iter().filter_map(write_source).collect();
    [
        // Some clients refuse a search without a query.
        json!({
            "type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": ""},
            "caller": {"type": "direct"},
        }),
        json!({"type": "web_search_tool_result", "tool_use_id": id, "content": results, "caller": {"type": "direct"}}),
    ]
}
