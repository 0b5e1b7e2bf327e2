//! The simulator's own controls, under `/_sim/`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::deliver::Answer;
use crate::memory::Memory;
use crate::script::Script;
use crate::service::Call;

/// One of the simulator's own controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// Queue replies.
    Expect,
    /// Read back what was received.
    Requests,
    /// Forget everything.
    Reset,
    /// Stop listening for a while.
    Refuse,
}

/// The beginning of the controls' paths.
pub(crate) const CONTROLS: &str = "/_sim/";

impl Control {
    /// The control that a request is for, if any.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        match (method, path.strip_prefix(CONTROLS)?) {
            ("POST", "expect") => Some(Control::Expect),
            ("GET", "requests") => Some(Control::Requests),
            ("POST", "reset") => Some(Control::Reset),
            ("POST", "refuse") => Some(Control::Refuse),
            _ => None,
        }
    }
}

pub(crate) fn answer(memory: &Memory, control: Control, call: &Call) -> Answer {
    match control {
        Control::Requests => requests(memory),
        Control::Reset => {
            memory.reset();
            Answer::json(&json!({"ok": true}))
        }
        Control::Expect => expect(memory, call),
        Control::Refuse => refuse(memory, call),
    }
}

fn requests(memory: &Memory) -> Answer {
    #[derive(Serialize)]
    struct Requests {
        requests: Vec<Box<RawValue>>,
    }
    let requests = memory.received().iter().filter_map(|entry| entry.write().ok()).collect();
    Answer::bytes(serde_json::to_vec(&Requests { requests }).unwrap_or_default())
}

/// The answer to a client that may not use the controls.
pub(crate) fn closed() -> Answer {
    let message = "the simulator's controls need `Authorization: Bearer TOKEN`: the token that it printed when it \
                   started, or a key that it was given";
    Answer { status: 401, ..Answer::json(&json!({"error": {"message": message}})) }
}

/// Accepts a script as JSON, or as TOML if the content type says so.
fn expect(memory: &Memory, call: &Call) -> Answer {
    let text = String::from_utf8_lossy(&call.body);
    let is_toml = call.header("content-type").is_some_and(|kind| kind.contains("toml"));
    let file = if is_toml { "body.toml" } else { "body.json" };
    match Script::read(&text, file) {
        Ok(script) => {
            let queued = script.reply.len();
            memory.expect(script);
            Answer::json(&json!({"queued": queued}))
        }
        Err(error) => bad(error.to_string()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refuse {
    ms: u64,
}

fn refuse(memory: &Memory, call: &Call) -> Answer {
    match serde_json::from_slice::<Refuse>(&call.body) {
        Ok(Refuse { ms }) => {
            memory.refuse_for(Duration::from_millis(ms.min(60_000)));
            Answer::json(&json!({"ok": true}))
        }
        Err(error) => bad(format!("the body is {{\"ms\": N}}: {error}")),
    }
}

fn bad(message: String) -> Answer {
    Answer { status: 400, ..Answer::json(&json!({"error": {"message": message}})) }
}
