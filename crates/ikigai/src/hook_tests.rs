//! What hooks see, and what they can do.

use std::sync::{Arc, Mutex};

use ikigai_core::{Dialect, ErrorKind, Event, ModelName, Request, ToolCall, ToolResult};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::Hook;
use crate::config::Environment;
use crate::testing::{Reply, Scripted, TestClock, calls, says};
use crate::{Attempt, Callable, Client, Error, Step, Tool};

/// Records what it sees, and vetoes requests that contain `forbidden`.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }
}

impl Hook for Diary {
    fn before_request(&self, model: &ModelName, request: &mut Request) -> Result<(), String> {
        self.write(format!("before {model}"));
        request.metadata.insert("user_id".to_owned(), json!("u1"));
        if request.messages.iter().any(|message| message.text().contains("forbidden")) {
            return Err("not in this house".to_owned());
        }
        Ok(())
    }

    fn on_attempt(&self, attempt: &Attempt, made: u32, most: u32) {
        self.write(format!("failed: {} ({made} of {most}), again: {}", attempt.kind, attempt.waited.is_some()));
    }

    fn on_event(&self, event: &Event) {
        if let Event::TextDelta { text, .. } = event {
            self.write(format!("text {text}"));
        }
    }

    fn on_tool_call(&self, call: &ToolCall) {
        self.write(format!("call {}", call.name));
    }

    fn on_tool_result(&self, call: &ToolCall, result: &ToolResult) {
        self.write(format!("result of {}: {}", call.name, result.content[0].as_text().unwrap()));
    }

    fn after_response(&self, outcome: Result<&Step, &Error>) {
        self.write(match outcome {
            Ok(step) => format!("after {} {:?}", step.model(), step.response().finish_reason),
            Err(error) => format!("after all: {}", error.kind()),
        });
    }
}

#[tokio::test]
async fn hooks_see_everything_and_may_refuse() {
    let busy = Reply::new(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#);
    let scripted = Scripted::new([
        busy,
        Reply::stream(Dialect::Anthropic, &calls(&[("c1", "clock", json!({}))])),
        Reply::stream(Dialect::Anthropic, &says("Noon.")),
    ]);
    let diary = Diary::default();
    let client = Client::builder()
        .transport(scripted.clone())
        .clock(TestClock::skipping())
        .environment(Environment::of([("ANTHROPIC_API_KEY", "k")]))
        .hook(diary.clone())
        .build()
        .unwrap();
    let clock = Callable::new(Tool::new("clock", ""), |_| async { "12:00" }).no_timeout();
    let model = client.model("anthropic:claude-haiku-4-5").unwrap().tool(clock);
    model.stream("What time is it?").await.unwrap().finish().await.unwrap();
    let error = model.ask("Something forbidden").await.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Vetoed, "anthropic: not in this house"));
    assert_eq!(
        *diary.0.lock().unwrap(),
        [
            "before anthropic:claude-haiku-4-5",
            "failed: overloaded (1 of 3), again: true",
            "after anthropic:claude-haiku-4-5 ToolUse",
            "call clock",
            "result of clock: 12:00",
            "before anthropic:claude-haiku-4-5",
            "text Noon.",
            "after anthropic:claude-haiku-4-5 Stop",
            "before anthropic:claude-haiku-4-5",
            "after all: vetoed",
        ]
    );
    assert_eq!(scripted.body(0)["metadata"]["user_id"], "u1", "and change the request");
    assert_eq!(scripted.requests().len(), 3);
}
