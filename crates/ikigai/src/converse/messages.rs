//! The conversation: Anthropic's blocks to Converse's.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::Loss;
use serde_json::{Value, json};

use super::media::{self, Names};
use super::request::{Caching, cache_point};
use super::{Fields, OWN, block, str_of};

/// The longest id of a call.
const LONGEST_ID: usize = 64;
/// What stands before redacted thinking that is no text.
pub(super) const BYTES: &str = "base64:";

/// A conversation on its way.
pub(super) struct Messages<'a> {
    caching: Caching,
    losses: &'a mut Vec<Loss>,
    names: Names,
    ids: HashMap<String, String>,
    wire: Vec<(String, Vec<Value>)>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(caching: Caching, losses: &'a mut Vec<Loss>) -> Self {
        Messages { caching, losses, names: Names::default(), ids: HashMap::new(), wire: Vec::new() }
    }

    /// The system prompt.
    pub(super) fn system(&mut self, system: Option<Value>) -> Vec<Value> {
        let mut wire = Vec::new();
        for (index, content) in blocks(system.unwrap_or_default()).into_iter().enumerate() {
            self.block(content, &format!("system[{index}]"), &mut wire);
        }
        wire
    }

    /// The messages. Those of one side in a row become one, because Converse wants the sides in turn.
    pub(super) fn read(&mut self, messages: Option<Value>) {
        let Some(Value::Array(messages)) = messages else { return };
        for (index, message) in messages.into_iter().enumerate() {
            let Value::Object(mut fields) = message else { continue };
            let role = str_of(&fields, "role").to_owned();
            let mut content = match self.wire.pop_if(|(last, _)| *last == role) {
                Some((_, content)) => content,
                None => Vec::new(),
            };
            for (place, inner) in blocks(fields.shift_remove("content").unwrap_or_default()).into_iter().enumerate() {
                self.block(inner, &format!("messages[{index}].content[{place}]"), &mut content);
            }
            let has = |key: &str| content.iter().any(|block| block.get(key).is_some());
            if has("document") && !has("text") {
                content.insert(0, block("text", "See the attached document."));
                let why = "Converse wants a text beside a document; one is added";
                self.losses.push(Loss::info(
                    ikigai_core::LossCode::Other,
                    "document",
                    format!("messages[{index}]"),
                    why,
                ));
            }
            self.wire.push((role, content));
        }
    }

    /// Caches the whole conversation.
    pub(super) fn cache_the_end(&mut self, mark: &Value) {
        let Some((role, mut content)) = self.wire.pop() else { return };
        self.cache(mark, "cache.automatic", &mut content);
        self.wire.push((role, content));
    }

    pub(super) fn finish(self) -> Vec<Value> {
        // A message of which nothing is left is refused.
        let wire = self.wire.into_iter().filter(|(_, content)| !content.is_empty());
        wire.map(|(role, content)| json!({"role": role, "content": content})).collect()
    }

    fn lose(&mut self, what: &str, place: &str, why: impl Into<String>) {
        self.losses.push(Loss::new(ikigai_core::LossCode::Other, what, place, why));
    }

    /// Puts a cache point behind what is there.
    fn cache(&mut self, mark: &Value, place: &str, out: &mut Vec<Value>) {
        if !self.caching.is_known() {
            return self.lose("cache", place, "this model is not known to cache over Converse; the hint is left out");
        }
        // A cache point directly behind one of these is refused.
        let is_paper = |block: &Value| block.get("document").is_some() || block.get("video").is_some();
        let end = out.iter().rposition(|block| !is_paper(block)).map_or(0, |last| last + 1);
        match end.checked_sub(1).and_then(|last| out.get(last)) {
            None => {
                self.lose("cache", place, "Converse caches no documents without a text before them; it is left out")
            }
            Some(last) if last.get("cachePoint").is_some() => {}
            Some(_) => {
                if end < out.len() {
                    let why = "Converse takes no cache point behind a document; it stands before it";
                    self.losses.push(Loss::info(ikigai_core::LossCode::Other, "cache", place, why));
                }
                out.insert(end, cache_point(mark));
            }
        }
    }

    /// One block, and its cache point.
    fn block(&mut self, content: Value, place: &str, out: &mut Vec<Value>) {
        let Value::Object(mut fields) = content else { return };
        let mut mark = fields.shift_remove("cache_control").filter(|mark| !mark.is_null());
        let kind = str_of(&fields, "type").to_owned();
        let wire = match kind.as_str() {
            "text" => Ok(self.text(&fields, place)),
            "thinking" => Ok(thinking(&fields)),
            "redacted_thinking" => Ok(redacted(&fields)),
            "image" => media::image(&fields),
            "document" => self.document(&fields, place),
            "search_result" => Ok(search_result(fields)),
            "tool_use" | "server_tool_use" => Ok(self.call(&fields, &kind)),
            "tool_result" => Ok(self.result(fields, place, &mut mark)),
            // What came out of a stream in pieces has no form to go back in.
            OWN => fields.shift_remove("block").ok_or_else(|| "it came in pieces".to_owned()),
            "" if fields.len() == 1 => Ok(Value::Object(fields)),
            _ => Err("Converse has no such block".to_owned()),
        };
        match wire {
            Ok(wire) => out.push(wire),
            Err(why) => {
                let what = if kind.is_empty() { "other" } else { &kind };
                self.lose(what, place, format!("{why}; it is left out"));
            }
        }
        if let Some(mark) = mark {
            self.cache(&mark, place, out);
        }
    }

    fn text(&mut self, fields: &Fields, place: &str) -> Value {
        let text = block("text", str_of(fields, "text"));
        let citations = fields.get("citations").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
        match citations {
            None => text,
            // Those of the dialect's own API say what type they are.
            Some(citations) if citations.as_array().into_iter().flatten().any(|one| one.get("type").is_some()) => {
                self.lose("citations", place, "Converse has other citations than these; they are left out");
                text
            }
            Some(citations) => block("citationsContent", json!({"content": [text], "citations": citations})),
        }
    }

    fn document(&mut self, fields: &Fields, place: &str) -> Result<Value, String> {
        let wire = media::document(fields, &mut self.names)?;
        let name = wire.get("document").and_then(|document| document.get("name")).and_then(Value::as_str);
        if let (Some(title), Some(name)) = (fields.get("title").and_then(Value::as_str), name)
            && title != name
        {
            let why =
                format!("Converse's names have letters, digits, blanks, - ( ) [ ], no two alike; `{name}` is sent");
            self.losses.push(Loss::info(ikigai_core::LossCode::Other, "document.name", place, why));
        }
        Ok(wire)
    }

    /// An id that Converse takes, the same for a call and its result.
    fn id(&mut self, id: &str) -> String {
        if id.len() <= LONGEST_ID {
            return id.to_owned();
        }
        let count = self.ids.len();
        // The dialect's ids are of one byte a character.
        let short = || format!("{}_{count}", id.chars().take(LONGEST_ID - 10).collect::<String>());
        self.ids.entry(id.to_owned()).or_insert_with(short).clone()
    }

    fn call(&mut self, fields: &Fields, kind: &str) -> Value {
        let input = fields.get("input").cloned().unwrap_or_else(|| json!({}));
        let id = self.id(str_of(fields, "id"));
        let mut call = json!({"toolUseId": id, "name": str_of(fields, "name"), "input": input});
        if let Some(call) = call.as_object_mut().filter(|_| kind != "tool_use") {
            call.insert("type".to_owned(), kind.into());
        }
        block("toolUse", call)
    }

    /// A tool's result. Cache points stand behind it, never inside.
    fn result(&mut self, mut fields: Fields, place: &str, mark: &mut Option<Value>) -> Value {
        let mut content = Vec::new();
        for (index, mut inner) in blocks(fields.shift_remove("content").unwrap_or_default()).into_iter().enumerate() {
            let inside = inner.as_object_mut().and_then(|fields| fields.shift_remove("cache_control"));
            *mark = mark.take().or(inside);
            self.block(inner, &format!("{place}.content[{index}]"), &mut content);
        }
        let failed = fields.get("is_error") == Some(&Value::Bool(true));
        let id = self.id(str_of(&fields, "tool_use_id"));
        let status = if failed { "error" } else { "success" };
        block("toolResult", json!({"toolUseId": id, "content": content, "status": status}))
    }
}

/// Content as blocks: a text alone is one.
fn blocks(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

fn thinking(fields: &Fields) -> Value {
    let mut text = json!({"text": str_of(fields, "thinking")});
    if let (Some(text), Some(signature)) = (text.as_object_mut(), fields.get("signature")) {
        text.insert("signature".to_owned(), signature.clone());
    }
    block("reasoningContent", block("reasoningText", text))
}

fn redacted(fields: &Fields) -> Value {
    let data = str_of(fields, "data");
    let bytes = data.strip_prefix(BYTES).map_or_else(|| STANDARD.encode(data), str::to_owned);
    block("reasoningContent", block("redactedContent", bytes))
}

fn search_result(mut fields: Fields) -> Value {
    fields.shift_remove("type");
    for inner in fields.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(inner) = inner.as_object_mut() {
            inner.shift_remove("type");
        }
    }
    block("searchResult", fields)
}
