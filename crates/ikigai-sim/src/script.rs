//! Scripts: prepared replies to the requests they are meant for.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use http::HeaderMap;
use ikigai_core::{Block, Dialect, FinishReason, Message, ProviderTool, Request, Response, Usage};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::order::Order;
use crate::talk::Turn;
use crate::talk::hosted::{Outcome, Page, Piece, Run, Told};

/// Prepared replies, in order. The first one that matches a request and is not used up answers it.
///
/// ```
/// use ikigai_sim::Script;
///
/// let script = Script::from_toml(r#"
///     [[reply]]
///     when = { text = "weather" }
///     tool_calls = [{ name = "get_weather", arguments = { city = "Oslo" } }]
///
///     [[reply]]
///     text = "Take a coat."
/// "#, "script.toml").unwrap();
/// assert_eq!(script.reply.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The replies.
    #[serde(default)]
    pub reply: Vec<Scripted>,
}

/// One reply, and the requests that it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scripted {
    /// The requests it answers. Absent: any.
    #[serde(default, skip_serializing_if = "When::is_any")]
    pub when: When,
    /// How often it may be used; 0 means without limit. Absent: once.
    #[serde(default = "once")]
    pub times: u64,
    /// The text of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The thinking before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The web searches that the provider makes for it, before its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<ScriptedSearch>,
    /// The passages of its text that cite what was found, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<ScriptedCitation>,
    /// Whether the provider pauses before the last search has returned, if its API has pauses, as Anthropic's does.
    #[serde(default)]
    pub paused: bool,
    /// The tools that the answer calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ScriptedCall>,
    /// Whether the pieces of its calls take turns in a stream, instead of one call following the other.
    #[serde(default)]
    pub interleaved: bool,
    /// Why it ends. Absent: `tool_use` with calls, else `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// The tokens it takes. Absent: counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// A whole canonical response, instead of all the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// What goes wrong, as a table or in the short form of [`Fault`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fault")]
    pub fault: Option<Fault>,
}

/// A tool call of a scripted answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The call's id. Absent: made by the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A web search in a scripted answer. If the answer continues a turn that was paused, the first one is the result of
/// the call that the turn ended with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedSearch {
    /// The query.
    pub query: String,
    /// The pages that are found, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ScriptedPage>,
    /// The provider's error code if it fails, such as `max_uses_exceeded`. Any is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A page that a scripted search finds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedPage {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its text, which is sealed or cited, as far as the API shows it.
    pub text: String,
    /// Its date or age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A passage of a scripted answer that cites a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCitation {
    /// The passage, as it is in the answer's text, after the previous one.
    pub text: String,
    /// The index of the page among all results of the answer's searches, from 0.
    #[serde(default)]
    pub result: usize,
}

/// The requests that a reply is for: everything that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The dialect of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The model; a `*` at the end matches any ending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text in the last message in which the user said something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Text in the latest tool results, if they are not answered yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The number of the request since the user last spoke: 1 is the first, 2 the one with the first tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<NonZeroUsize>,
    /// Text in the header `user-agent`, ignoring case: which program asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The name of a tool that is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Headers and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub header: BTreeMap<String, String>,
}

/// An error in a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {reason}")]
pub struct ScriptError {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

impl Script {
    /// Reads a script: JSON if the file's name ends in `.json`, else TOML. `file` is its name in errors.
    ///
    /// # Errors
    /// Returns an error if the script is invalid; it names file, line, column and reason.
    pub fn read(text: &str, file: &str) -> Result<Self, ScriptError> {
        if file.ends_with(".json") { Script::from_json(text, file) } else { Script::from_toml(text, file) }
    }

    /// Reads a script from TOML.
    ///
    /// # Errors
    /// Same as [`read`](Script::read).
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ScriptError> {
        let script = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            ScriptError {
                file: file.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.chars().rev().take_while(|&c| c != '\n').count() + 1,
                reason: error.message().to_owned(),
            }
        })?;
        Script::checked(script, file)
    }

    /// Reads a script from JSON.
    ///
    /// # Errors
    /// Same as [`read`](Script::read).
    pub fn from_json(text: &str, file: &str) -> Result<Self, ScriptError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let script = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let place = error.path().to_string();
            let inner = error.into_inner();
            let reason = inner.to_string();
            // serde_json ends its message with the place, which comes first here.
            let reason = reason.split(" at line ").next().unwrap_or_default();
            ScriptError {
                file: file.to_owned(),
                line: inner.line(),
                column: inner.column(),
                reason: if place == "." { reason.to_owned() } else { format!("{place}: {reason}") },
            }
        })?;
        Script::checked(script, file)
    }

    /// Returns the script if its parts fit together.
    fn checked(script: Script, file: &str) -> Result<Self, ScriptError> {
        let problem = script.reply.iter().enumerate().find_map(|(place, reply)| Some((place, reply.problem()?)));
        match problem {
            Some((place, reason)) => {
                let reason = format!("reply[{place}].{reason}");
                Err(ScriptError { file: file.to_owned(), line: 1, column: 1, reason })
            }
            None => Ok(script),
        }
    }

    /// Takes the first reply that fits the request, counting its use.
    pub(crate) fn take(&mut self, dialect: Dialect, request: &Request, headers: &HeaderMap) -> Option<Scripted> {
        if self.reply.is_empty() {
            return None;
        }
        let turn = Turn::of(request);
        let place = self.reply.iter().position(|scripted| scripted.when.fits(dialect, request, headers, &turn))?;
        let scripted = self.reply.get_mut(place)?;
        match scripted.times {
            0 => Some(scripted.clone()),
            1 => Some(self.reply.remove(place)),
            _ => {
                scripted.times -= 1;
                Some(scripted.clone())
            }
        }
    }
}

impl Scripted {
    /// The order in which its pieces are streamed.
    pub(crate) fn order(&self) -> Order {
        if self.interleaved { Order::InTurns } else { Order::OneByOne }
    }

    /// The calls that it makes.
    pub(crate) fn calls(&self, mut next_id: impl FnMut() -> String) -> Vec<Block> {
        let call = |call: &ScriptedCall| {
            let id = call.id.clone().unwrap_or_else(&mut next_id);
            Block::tool_call(id, &call.name, call.arguments.clone())
        };
        self.tool_calls.iter().map(call).collect()
    }

    /// What the provider's tools did for it, or `None` if they did nothing.
    pub(crate) fn told(&self) -> Option<Told> {
        if self.searches.is_empty() {
            return None;
        }
        let last = self.searches.len() - 1;
        let run = |(place, search): (usize, &ScriptedSearch)| Run {
            tool: ProviderTool::WebSearch,
            input: search.query.clone(),
            earlier: None,
            outcome: (!self.paused || place != last).then(|| search.outcome()),
        };
        let runs = self.searches.iter().enumerate().map(run).collect();
        Some(Told { runs, pieces: self.pieces().unwrap_or_default(), paused: self.paused })
    }

    /// The text in pieces, cut where passages begin and end, or the number of a passage that is not in it.
    fn pieces(&self) -> Result<Vec<Piece>, usize> {
        let mut rest = self.text.as_deref().unwrap_or_default();
        let mut pieces: Vec<Piece> = Vec::new();
        for (place, citation) in self.citations.iter().enumerate() {
            match pieces.last_mut().filter(|last| last.text == citation.text) {
                // Another source for the same passage.
                Some(last) => last.cites.push(citation.result),
                None => {
                    let (before, behind) = rest.split_once(citation.text.as_str()).ok_or(place)?;
                    pieces.push(Piece { text: before.to_owned(), cites: Vec::new() });
                    pieces.push(Piece { text: citation.text.clone(), cites: vec![citation.result] });
                    rest = behind;
                }
            }
        }
        pieces.push(Piece { text: rest.to_owned(), cites: Vec::new() });
        Ok(pieces)
    }

    /// What is wrong with it apart from its syntax.
    fn problem(&self) -> Option<String> {
        let found: usize = self.searches.iter().map(|search| search.results.len()).sum();
        if let Some(place) = self.citations.iter().position(|citation| citation.result >= found) {
            return Some(format!("citations[{place}].result: there are {found} results, counted from 0"));
        }
        let place = self.pieces().err()?;
        Some(format!("citations[{place}].text: it is not in `text`, or not behind the one before"))
    }
}

impl ScriptedSearch {
    fn outcome(&self) -> Outcome {
        let page = |page: &ScriptedPage| {
            let ScriptedPage { url, title, text, date } = page.clone();
            Page { url, title, text, date }
        };
        match &self.error {
            Some(code) => Outcome::Failed(code.clone()),
            None => Outcome::Found(self.results.iter().map(page).collect()),
        }
    }
}

impl When {
    fn is_any(&self) -> bool {
        *self == When::default()
    }

    fn fits(&self, dialect: Dialect, request: &Request, headers: &HeaderMap, turn: &Turn<'_>) -> bool {
        self.dialect.is_none_or(|wanted| wanted == dialect)
            && self.model.as_ref().is_none_or(|pattern| fits_pattern(pattern, &request.model))
            && self.text.as_ref().is_none_or(|text| turn.message.is_some_and(|message| message.text().contains(text)))
            && self.result.as_ref().is_none_or(|text| turn.results.is_some_and(|results| holds(results, text)))
            && self.turn.is_none_or(|number| number.get() == turn.rounds + 1)
            && self.client.as_ref().is_none_or(|client| is_client(headers, client))
            && self.tool.as_ref().is_none_or(|tool| request.tools.iter().any(|known| known.name() == Some(tool)))
            && self
                .header
                .iter()
                .all(|(name, value)| headers.get(name).is_some_and(|given| given.as_bytes() == value.as_bytes()))
    }
}

fn fits_pattern(pattern: &str, model: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => pattern == model,
    }
}

/// Whether one of the results contains a text.
fn holds(results: &Message, text: &str) -> bool {
    let results = results.content.iter().filter_map(Block::as_tool_result);
    results.flat_map(|result| &result.content).filter_map(Block::as_text).any(|said| said.contains(text))
}

fn is_client(headers: &HeaderMap, client: &str) -> bool {
    let agent = headers.get(http::header::USER_AGENT).map(|agent| String::from_utf8_lossy(agent.as_bytes()));
    agent.is_some_and(|agent| agent.to_lowercase().contains(&client.to_lowercase()))
}

fn once() -> u64 {
    1
}

fn fault<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Fault>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(short) => short.parse().map(Some).map_err(serde::de::Error::custom),
        table => {
            let fault: Fault = serde_json::from_value(table).map_err(serde::de::Error::custom)?;
            fault.within_limits().map(Some).map_err(serde::de::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_script_names_file_line_and_reason() {
        let toml = Script::from_toml("[[reply]]\ntext = \"a\"\n\n[[reply]]\ntxt = 1\n", "s.toml").unwrap_err();
        assert!(toml.to_string().starts_with("s.toml:5:1: unknown field `txt`, expected one of"), "{toml}");
        let json = Script::from_json("{\"reply\": [{\"times\": \"x\"}]}", "s.json").unwrap_err();
        assert_eq!(json.to_string(), "s.json:1:24: reply[0].times: invalid type: string \"x\", expected u64");
        let fault = Script::from_toml("[[reply]]\nfault = \"cut\"\n", "s.toml").unwrap_err();
        assert!(fault.to_string().starts_with("s.toml:2:9: `cut` is not a fault"), "{fault}");
    }

    #[test]
    fn a_task_of_several_turns_is_steered_by_turn_result_and_client() {
        let toml = r#"
            [[reply]]
            when = { client = "codex", turn = 1 }
            text = "codex"

            [[reply]]
            when = { turn = 1 }
            text = "first"

            [[reply]]
            when = { result = "17" }
            text = "seen"

            [[reply]]
            when = { turn = 3, text = "Add" }
            text = "third"
        "#;
        let mut script = Script::from_toml(toml, "s.toml").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("user-agent", http::HeaderValue::from_static("Codex_CLI/1.0"));
        let asked = Request::new("m").user("Add the numbers");
        let call = |id: &str| Message::new(ikigai_core::Role::Assistant, vec![Block::tool_call(id, "f", Map::new())]);
        let once = asked.clone().message(call("1")).message(ikigai_core::tool_result("1", "17 25"));
        let twice = once.clone().message(call("2")).message(ikigai_core::tool_result("2", "done"));
        let mut take = |request: &Request, headers: &HeaderMap| {
            script.take(Dialect::OpenaiChat, request, headers).and_then(|reply| reply.text).unwrap_or_default()
        };
        let plain = HeaderMap::new();
        assert_eq!([take(&asked, &plain), take(&asked, &headers), take(&asked, &plain)], ["first", "codex", ""]);
        assert_eq!([take(&twice, &plain), take(&once, &plain), take(&once, &plain)], ["third", "seen", ""]);
        let zero = Script::from_toml("[[reply]]\nwhen = { turn = 0 }\n", "s.toml").unwrap_err();
        assert_eq!(zero.to_string(), "s.toml:2:17: invalid value: integer `0`, expected a nonzero usize");
    }

    #[test]
    fn replies_are_taken_in_order_by_what_they_ask_for() {
        let mut script = Script::from_toml(
            "[[reply]]\nwhen = { model = \"gpt-*\", text = \"two\" }\ntimes = 2\ntext = \"b\"\n\n[[reply]]\ntimes = 0\ntext = \"c\"\n",
            "s.toml",
        )
        .unwrap();
        let mut ask = |model: &str, text: &str| {
            let request = Request::new(model).user(text);
            script.take(Dialect::OpenaiChat, &request, &HeaderMap::new()).and_then(|reply| reply.text)
        };
        let answers =
            [ask("gpt-5", "one"), ask("gpt-5", "two"), ask("claude", "two"), ask("gpt-5", "two"), ask("gpt-5", "two")];
        assert_eq!(answers.map(Option::unwrap), ["c", "b", "c", "b", "c"]);
    }
}
