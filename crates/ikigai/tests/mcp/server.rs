//! An MCP server with a tool for everything that can happen, built with the official SDK.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ResourceContents, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct TestServer {
    /// Whether the tool `grow` has been called.
    pub(crate) grown: Arc<AtomicBool>,
    /// The file that a cancelled call writes a note to.
    pub(crate) note: Option<PathBuf>,
    /// A program that this one has started.
    pub(crate) child: Option<u32>,
    /// Whether every page of the list names the same next page.
    pub(crate) endless: bool,
}

fn tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else { panic!("a schema is an object") };
    Tool::new(name, description, Arc::new(schema))
}

impl TestServer {
    fn tools(&self) -> Vec<Tool> {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let echo = ToolAnnotations::with_title("Echo").read_only(true).open_world(false);
        let mut tools = vec![
            tool("echo", "Gives back a text.", text).with_annotations(echo),
            tool("media", "Gives one of each.", json!({"type": "object"})),
            tool("fail", "Fails.", json!({})),
            tool("structured", "Gives a value.", json!({"type": "object"})),
            tool("hang", "Never ends.", json!({"type": "object"})),
            tool("die", "Ends the server.", json!({"type": "object"}))
                .with_annotations(ToolAnnotations::new().destructive(true).idempotent(false)),
            tool("about", "Tells about the process.", json!({"type": "object"})),
            tool("grow", "Adds a tool.", json!({"type": "object"})),
            tool("dotted.name/with signs", "Has an odd name.", json!({"type": "object"})),
            tool("refuse", "Answers with a JSON-RPC error.", json!({"type": "object"})),
        ];
        if self.grown.load(Ordering::SeqCst) {
            tools.push(tool("extra", "Came later.", json!({"type": "object"})));
        }
        tools
    }
}

fn done(result: CallToolResult) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResponse::Complete(result))
}

impl ServerHandler for TestServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_instructions("Use echo first.")
    }

    /// Lists four tools per page.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        if self.endless {
            let mut page = ListToolsResult::with_all_items(self.tools());
            page.next_cursor = Some("again".to_owned());
            return Ok(page);
        }
        let from: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let all = self.tools();
        let mut page = ListToolsResult::with_all_items(all.iter().skip(from).take(4).cloned().collect());
        page.next_cursor = (from + 4 < all.len()).then(|| (from + 4).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| done(CallToolResult::success(vec![ContentBlock::text(text)]));
        match request.name.as_ref() {
            "echo" => text(request.arguments.unwrap()["text"].as_str().unwrap().to_owned()),
            "media" => done(CallToolResult::success(vec![
                ContentBlock::text("Here:"),
                ContentBlock::image("iVBORw0KGgo=", "image/png"),
                ContentBlock::resource(ResourceContents::text("# A", "file:///a.md")),
            ])),
            "fail" => done(CallToolResult::error(vec![ContentBlock::text("no such city")])),
            "structured" => {
                let mut result = CallToolResult::structured(json!({"degrees": 4}));
                result.content.clear();
                done(result)
            }
            "hang" => {
                context.ct.cancelled().await;
                if let Some(note) = &self.note {
                    std::fs::write(note, "cancelled").unwrap();
                }
                text("too late".to_owned())
            }
            "die" => {
                eprintln!("the disk is full");
                tokio::time::sleep(Duration::from_millis(20)).await;
                std::process::exit(7)
            }
            "about" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                let folder = std::env::current_dir().unwrap();
                text(
                    json!({"pid": std::process::id(), "child": self.child, "variables": names, "folder": folder})
                        .to_string(),
                )
            }
            "grow" => {
                self.grown.store(true, Ordering::SeqCst);
                context
                    .peer
                    .notify_tool_list_changed()
                    .await
                    .map_err(|error| ErrorData::internal_error(Cow::Owned(error.to_string()), None))?;
                text("grown".to_owned())
            }
            "dotted.name/with signs" => text("odd".to_owned()),
            "extra" => text("late".to_owned()),
            _ => Err(ErrorData::invalid_params("there is no such thing", None)),
        }
    }
}
