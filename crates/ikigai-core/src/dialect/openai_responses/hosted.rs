//! Converts this API's objects for citations and for the tools it runs, both ways.
//!
//! One item is both a call and its result. In the format it is a pair of blocks: the call has the item, and the result
//! is marked as its other half.

use serde_json::{Map, Value, json};

use crate::dialect::hosted::{self, HALF, at, text};
use crate::dialect::media::data_url;
use crate::span::Ruler;
use crate::{
    Arguments, Block, Citation, CitedSource, FoundSource, Json, Marks, Part, ProviderCall, ProviderFailure,
    ProviderResult, ProviderTool, Source,
};

use super::DIALECT;

/// Returns the tool that an item calls, or `None` for items that the client runs or that are not calls.
fn tool_of(kind: &str, item: &Value) -> Option<ProviderTool> {
    Some(match kind {
        "web_search_call" => match at(item, "/action/type").as_str() {
            Some("open_page" | "find_in_page") => ProviderTool::WebFetch,
            _ => ProviderTool::WebSearch,
        },
        "x_search_call" => ProviderTool::WebSearch,
        "file_search_call" => ProviderTool::FileSearch,
        "code_interpreter_call" => ProviderTool::CodeExecution,
        "image_generation_call" => ProviderTool::ImageGeneration,
        "mcp_call" => ProviderTool::Mcp,
        _ => return None,
    })
}

/// Reads an item as a call and its result. Returns `None` if it is anything else.
pub(super) fn raise(data: &Json) -> Option<[Block; 2]> {
    let item = data.value();
    let kind = item["type"].as_str()?;
    let tool = tool_of(kind, item)?;
    let id = text(&item["id"]).unwrap_or_default();
    let mut call = ProviderCall {
        id: id.clone(),
        tool,
        name: text(&item["name"]).unwrap_or_else(|| kind.trim_end_matches("_call").to_owned()),
        arguments: arguments(tool, item),
        status: text(&item["status"]),
        server: text(&item["server_label"]),
        ..ProviderCall::default()
    };
    hosted::keep_wire(&mut call.provider_data, DIALECT, data.clone());
    let mut result = ProviderResult { call_id: id, tool, ..ProviderResult::default() };
    result.provider_data.set_part(DIALECT, Part::State, HALF, true);
    fill(&mut result, item);
    Some([Block::ProviderCall(call), Block::ProviderResult(result)])
}

fn arguments(tool: ProviderTool, item: &Value) -> Arguments {
    if let Some(text) = item["arguments"].as_str() {
        return Arguments::from_text(text);
    }
    let (object, names): (&Value, &[&str]) = match tool {
        ProviderTool::WebSearch | ProviderTool::WebFetch => (&item["action"], &["query", "queries", "url", "pattern"]),
        ProviderTool::FileSearch => (item, &["queries"]),
        ProviderTool::CodeExecution => (item, &["code"]),
        ProviderTool::ImageGeneration => (item, &["revised_prompt"]),
        ProviderTool::Mcp | ProviderTool::ToolSearch | ProviderTool::Other => return Arguments::default(),
    };
    let said = names.iter().filter(|name| !object[**name].is_null());
    said.map(|name| ((*name).to_owned(), object[*name].clone())).collect::<Map<String, Value>>().into()
}

fn fill(result: &mut ProviderResult, item: &Value) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    result.sources = match result.tool {
        ProviderTool::FileSearch => list(&item["results"])
            .iter()
            .map(|found| FoundSource {
                file_id: text(&found["file_id"]),
                title: text(&found["filename"]),
                snippet: text(&found["text"]),
                ..FoundSource::default()
            })
            .collect(),
        _ => list(at(item, "/action/sources"))
            .iter()
            .map(|found| FoundSource {
                url: text(&found["url"]),
                title: text(&found["name"]),
                ..FoundSource::default()
            })
            .collect(),
    };
    result.content = match result.tool {
        ProviderTool::CodeExecution => list(&item["outputs"]).iter().filter_map(output).collect(),
        ProviderTool::ImageGeneration => picture(item).into_iter().collect(),
        _ => text(&item["output"]).filter(|text| !text.is_empty()).map(Block::text).into_iter().collect(),
    };
    let error = &item["error"];
    if !error.is_null() {
        // For an MCP tool, the error's text is in protocol content.
        let said = || list(&error["content"]).iter().find_map(|part| text(&part["text"]));
        let message = text(error).or_else(|| text(&error["message"])).or_else(said);
        let code = text(&error["type"]).unwrap_or_else(|| "failed".to_owned());
        result.error = Some(ProviderFailure { code, message });
    } else if item["status"] == "failed" {
        result.error = Some(ProviderFailure { code: "failed".to_owned(), message: None });
    }
}

fn output(output: &Value) -> Option<Block> {
    if let Some(logs) = text(&output["logs"]) {
        return (!logs.is_empty()).then(|| Block::text(logs));
    }
    let url = output["url"].as_str()?;
    Some(match data_url(url) {
        Some((media_type, data)) => {
            Block::image(Source::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
        }
        None => Block::image_url(url),
    })
}

fn picture(item: &Value) -> Option<Block> {
    let data = text(&item["result"]).filter(|data| !data.is_empty())?;
    let format = item["output_format"].as_str().unwrap_or("png");
    Some(Block::image(Source::Base64 { media_type: format!("image/{format}"), data }))
}

/// Whether the client has to run what this item asks for, so that the answer waits for it. Some items say where they
/// are run.
pub(super) fn is_the_clients(item: &Value) -> bool {
    let place = item["execution"].as_str().or_else(|| at(item, "/environment/type").as_str());
    match item["type"].as_str().unwrap_or_default() {
        "custom_tool_call"
        | "function_call"
        | "computer_call"
        | "local_shell_call"
        | "apply_patch_call"
        | "mcp_approval_request" => true,
        "shell_call" => place == Some("local"),
        "tool_search_call" => place == Some("client"),
        _ => false,
    }
}

/// Reads an annotation as a citation, in a text of this length.
pub(super) fn citation(wire: Json, ruler: &Ruler) -> Citation {
    let value = wire.value();
    let number = |name: &str| value[name].as_u64();
    let (file_id, filename) = (text(&value["file_id"]), text(&value["filename"]));
    let mut marks = Marks::Claim;
    let source = match value["type"].as_str().unwrap_or_default() {
        "url_citation" => text(&value["url"]).map(|url| {
            marks = Marks::Link;
            CitedSource::Url { url, title: text(&value["title"]) }
        }),
        "file_citation" => Some(CitedSource::File { file_id, filename, store: None, container_id: None }),
        "container_file_citation" => {
            marks = Marks::Link;
            Some(CitedSource::File { file_id, filename, store: None, container_id: text(&value["container_id"]) })
        }
        "file_path" => Some(CitedSource::File { file_id, filename: None, store: None, container_id: None }),
        _ => None,
    };
    let range = match (number("start_index"), number("end_index"), number("index")) {
        // It belongs to nothing in the text.
        (Some(0), Some(0), _) => None,
        (Some(start), Some(end), _) => Some((start, end)),
        (_, _, Some(point)) => Some((point, point)),
        _ => None,
    };
    let span = range.and_then(|(start, end)| ruler.span_of_chars(start, end));
    if span.is_none() {
        marks = Marks::Claim;
    }
    Citation { source: source.unwrap_or_default(), span, marks, ..Citation::default() }.with_wire(DIALECT, wire)
}

/// Returns the last character that an annotation covers.
pub(super) fn reaches(wire: &Json) -> u64 {
    let value = wire.value();
    let number = |name: &str| value[name].as_u64().unwrap_or_default();
    number("start_index").max(number("end_index")).max(number("index"))
}

/// Writes a citation for a client, in a text of this length. Returns `None` if this API has none for such a source.
pub(crate) fn write_citation(citation: &Citation, ruler: &Ruler) -> Option<Value> {
    let (start, end) = citation.span.map_or((0, ruler.chars_before(ruler.bytes())), |span| ruler.chars_of_span(span));
    Some(match &citation.source {
        CitedSource::Url { url, title } => json!({
            "type": "url_citation", "url": url, "title": title.as_deref().unwrap_or_default(),
            "start_index": start, "end_index": end,
        }),
        CitedSource::File { file_id, filename, container_id: Some(container), .. } => json!({
            "type": "container_file_citation", "container_id": container, "file_id": file_id.as_deref()?,
            "filename": filename.as_deref().unwrap_or_default(), "start_index": start, "end_index": end,
        }),
        CitedSource::File { file_id, filename: title, .. } | CitedSource::Document { file_id, title, .. } => json!({
            "type": "file_citation", "file_id": file_id.as_deref()?, "filename": title.as_deref().unwrap_or_default(),
            "index": end,
        }),
        CitedSource::Other => return None,
    })
}

/// Writes the item for another API's call and its result. Returns `None` if this API has no such tool.
pub(crate) fn write_item(call: &ProviderCall, result: Option<&ProviderResult>) -> Option<Value> {
    let failed = result.is_some_and(|result| result.error.is_some());
    let status = if failed { "failed" } else { "completed" };
    let asked = call.arguments.object();
    let sources = result.map(|result| result.sources.as_slice()).unwrap_or_default();
    let said: String = result.iter().flat_map(|result| &result.content).filter_map(Block::as_text).collect();
    let id = |prefix: &str| hosted::our_id(prefix, &call.id);
    Some(match call.tool {
        ProviderTool::WebSearch => {
            let queries = match asked.get("queries") {
                Some(queries) => queries.clone(),
                None => asked.get("query").into_iter().cloned().collect(),
            };
            let action = json!({
                "type": "search", "query": asked.get("query").or_else(|| queries.get(0)), "queries": queries,
                "sources": write_sources(sources),
            });
            json!({"type": "web_search_call", "id": id("ws_"), "status": status, "action": action})
        }
        ProviderTool::WebFetch => {
            let url = asked.get("url").cloned().or_else(|| Some(json!(sources.first()?.url.as_deref()?)));
            let action = json!({"type": "open_page", "url": url});
            json!({"type": "web_search_call", "id": id("ws_"), "status": status, "action": action})
        }
        ProviderTool::CodeExecution => {
            let code = ["code", "command"].iter().find_map(|name| asked.get(*name)).and_then(Value::as_str);
            let outputs: Value = if said.is_empty() { json!([]) } else { json!([{"type": "logs", "logs": said}]) };
            json!({
                "type": "code_interpreter_call", "id": id("ci_"), "status": status, "container_id": "",
                "code": code.unwrap_or_default(), "outputs": outputs,
            })
        }
        ProviderTool::FileSearch => {
            let results: Vec<Value> = sources
                .iter()
                .map(|source| {
                    json!({
                        "file_id": source.file_id, "filename": source.title, "text": source.snippet, "score": 0.0,
                        "attributes": {},
                    })
                })
                .collect();
            let queries = asked.get("queries").cloned().unwrap_or_else(|| json!([]));
            json!({
                "type": "file_search_call", "id": id("fs_"), "status": status, "queries": queries, "results": results,
            })
        }
        ProviderTool::Mcp => {
            let server = call.server.as_deref().unwrap_or_default();
            let error = result.and_then(|result| result.error.as_ref()).map(|error| {
                let said = error.message.as_deref().unwrap_or(&error.code);
                json!({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": said}]})
            });
            json!({
                "type": "mcp_call", "id": id("mcp_"), "status": status, "server_label": server, "name": call.name,
                "arguments": call.arguments.text(), "output": said, "error": error, "approval_request_id": null,
            })
        }
        ProviderTool::ToolSearch | ProviderTool::ImageGeneration | ProviderTool::Other => return None,
    })
}

fn write_sources(sources: &[FoundSource]) -> Value {
    let urls = sources.iter().filter_map(|source| source.url.as_deref());
    urls.map(|url| json!({"type": "url", "url": url})).collect()
}

/// Writes a search for sources that belong to no call; its query is unknown.
pub(crate) fn write_search(sources: &[FoundSource], id: &str) -> Value {
    let action = json!({"type": "search", "query": "", "queries": [], "sources": write_sources(sources)});
    json!({"type": "web_search_call", "id": id, "status": "completed", "action": action})
}
