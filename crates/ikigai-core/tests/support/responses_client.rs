//! The checks that the official client of the Responses API makes on a stream.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Checks what the official client checks as it assembles a stream, and more. Returns the response of the last frame.
pub(crate) fn check_as_client(sse: &str) -> Result<Value, String> {
    let mut frames = Vec::new();
    for frame in sse.split_terminator("\n\n") {
        let (name, data) = frame.split_once("\ndata: ").ok_or_else(|| format!("not a frame: {frame}"))?;
        let data: Value = serde_json::from_str(data).map_err(|fault| format!("{fault}: {frame}"))?;
        if name.strip_prefix("event: ") != data["type"].as_str() {
            return Err(format!("the event's name is not its type: {frame}"));
        }
        frames.push(data);
    }
    let mut client = Client::default();
    for (number, frame) in frames.iter().enumerate() {
        client.take(number, frame).map_err(|fault| format!("frame {number}: {fault}: {frame}"))?;
    }
    client.end.ok_or_else(|| "the stream has no end".to_owned())
}

#[derive(Default)]
struct Client {
    id: Option<Value>,
    added: BTreeMap<u64, Value>,
    done: BTreeMap<u64, Value>,
    /// The open parts, with their text so far, by item and position in it.
    parts: BTreeMap<(u64, u64), String>,
    arguments: BTreeMap<u64, String>,
    end: Option<Value>,
}

impl Client {
    fn take(&mut self, number: usize, frame: &Value) -> Result<(), String> {
        let need = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let kind = frame["type"].as_str().unwrap();
        need(frame["sequence_number"] == number, "numbers go up by one from 0")?;
        need((kind == "response.created") == (number == 0), "the first frame is response.created")?;
        need(self.end.is_none(), "nothing follows the end")?;
        need(frame.get("error").is_none_or(Value::is_null), "an error at the top raises at once")?;
        if let Some(response) = frame.get("response") {
            let id = self.id.get_or_insert_with(|| response["id"].clone());
            need(response["id"] == *id && id.is_string(), "every frame has the same response id")?;
        }
        let at = frame["output_index"].as_u64().unwrap_or(u64::MAX);
        let part = frame["content_index"].as_u64().or(frame["summary_index"].as_u64()).unwrap_or(0);
        let open = self.added.contains_key(&at) && !self.done.contains_key(&at);
        match kind {
            "response.created" | "response.in_progress" => {
                need(frame["response"]["output"] == json!([]), "nothing is there at the beginning")?;
            }
            "response.output_item.added" => {
                need(at == self.added.len() as u64, "items come in order, once")?;
                need(frame["item"]["id"].is_string(), "an item has an id")?;
                self.added.insert(at, frame["item"].clone());
            }
            "response.output_item.done" => {
                need(open, "an item is done once, after it was added")?;
                let (added, done) = (&self.added[&at], &frame["item"]);
                let same = |key: &str| added[key] == done[key];
                let same_call = done["type"] != "function_call" || same("call_id");
                need(same("type") && same("id") && same_call, "the done item is the added one")?;
                need(done["type"] != "reasoning" || done["summary"].is_array(), "reasoning has a summary")?;
                need(!self.parts.keys().any(|(item, _)| *item == at), "all parts are done before their item")?;
                if let Some(arguments) = self.arguments.get(&at) {
                    need(done["arguments"] == arguments.as_str(), "the arguments are those that were streamed")?;
                }
                self.done.insert(at, done.clone());
            }
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                need(open && self.parts.insert((at, part), String::new()).is_none(), "a part opens once, in its item")?;
                let lists = frame["part"]["annotations"] == json!([]) && frame["part"]["logprobs"] == json!([]);
                need(frame["part"]["type"] != "output_text" || lists, "a text part has both lists")?;
            }
            "response.output_text.delta" | "response.refusal.delta" | "response.reasoning_summary_text.delta" => {
                let text = self.parts.get_mut(&(at, part)).ok_or("no such part is open")?;
                text.push_str(frame["delta"].as_str().unwrap());
                need(kind != "response.output_text.delta" || frame["logprobs"] == json!([]), "has logprobs")?;
            }
            "response.output_text.done" | "response.refusal.done" | "response.reasoning_summary_text.done" => {
                let whole = frame.get("text").or(frame.get("refusal")).unwrap();
                need(*whole == self.parts[&(at, part)].as_str(), "the text is what was streamed")?;
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                need(self.parts.remove(&(at, part)).is_some(), "a part is done once")?;
            }
            "response.function_call_arguments.delta" => {
                need(open, "arguments come after the call was added")?;
                self.arguments.entry(at).or_default().push_str(frame["delta"].as_str().unwrap());
            }
            "response.function_call_arguments.done" => need(open && frame["name"].is_string(), "names the call")?,
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = &frame["response"];
                need(kind == "response.failed" || self.done.len() == self.added.len(), "an item is not done")?;
                let items: Vec<Value> = self.done.values().cloned().collect();
                need(response["output"] == Value::Array(items), "the end repeats all items")?;
                need(kind == format!("response.{}", response["status"].as_str().unwrap()), "status and event agree")?;
                if let Some(usage) = response["usage"].as_object() {
                    let whole = usage["input_tokens"].is_u64()
                        && usage["input_tokens_details"]["cached_tokens"].is_u64()
                        && usage["output_tokens"].is_u64()
                        && usage["output_tokens_details"]["reasoning_tokens"].is_u64()
                        && usage["total_tokens"].is_u64();
                    need(whole, "usage has all five members")?;
                }
                self.end = Some(response.clone());
            }
            _ => {}
        }
        Ok(())
    }
}
