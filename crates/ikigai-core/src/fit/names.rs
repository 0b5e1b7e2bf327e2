//! Tool names that a dialect does not accept, changed so that they can be restored.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::abilities::{FirstCharacter, NameRule};
use crate::{Block, Dialect, Event, Request, Response, Tool, ToolChoice};

/// The tool names that were changed for a request. It restores the original names in the calls of the answer.
///
/// ```
/// use ikigai_core::wire::ToolNames;
///
/// let names: ToolNames = serde_json::from_str(r#"{"fs_read": "fs.read"}"#).unwrap();
/// assert_eq!(names.own("fs_read"), "fs.read");
/// assert_eq!(names.own("search"), "search");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolNames {
    /// The caller's name for each name that was sent.
    own: BTreeMap<String, String>,
}

impl ToolNames {
    /// Returns whether all names were sent unchanged.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// Returns the caller's name for a tool that was sent under this name.
    pub fn own<'a>(&'a self, sent: &'a str) -> &'a str {
        self.own.get(sent).map_or(sent, String::as_str)
    }

    /// Restores the original names in the calls of an answer.
    pub fn restore(&self, response: &mut Response) {
        if self.is_empty() {
            return;
        }
        for block in &mut response.content {
            if let Block::ToolCall(call) = block {
                self.rename(&mut call.name);
            }
        }
    }

    /// Restores the original name in the call of an event.
    pub fn restore_event(&self, event: &mut Event) {
        if self.is_empty() {
            return;
        }
        match event {
            Event::ToolCallStart { name, .. } => self.rename(name),
            Event::Start { .. }
            | Event::BlockStart { .. }
            | Event::TextDelta { .. }
            | Event::ThinkingDelta { .. }
            | Event::ToolCallDelta { .. }
            | Event::ToolCallDone { .. }
            | Event::BlockReplaced { .. }
            | Event::Citation { .. }
            | Event::Sources { .. }
            | Event::BlockDone { .. }
            | Event::Usage { .. }
            | Event::Done { .. }
            | Event::Error { .. }
            | Event::Other { .. } => {}
        }
    }

    fn rename(&self, name: &mut String) {
        if let Some(own) = self.own.get(name.as_str()) {
            own.clone_into(name);
        }
    }
}

impl NameRule {
    /// Returns whether a name is accepted unchanged.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let begins = name.chars().next().is_some_and(|first| self.can_begin(first));
        begins && name.len() <= self.longest && name.chars().all(|c| self.has(c))
    }

    fn has(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || self.also.contains(c)
    }

    fn can_begin(&self, c: char) -> bool {
        match self.first {
            FirstCharacter::Any => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            FirstCharacter::Letter => c.is_ascii_alphabetic() || c == '_',
        }
    }

    /// Returns the name with `_` for every character that is not accepted.
    fn plain(&self, name: &str) -> String {
        let mut plain = String::with_capacity(name.len().min(self.longest) + 1);
        let mut taken = name.chars().map(|c| if self.has(c) { c } else { '_' }).peekable();
        if !taken.peek().is_some_and(|first| self.can_begin(*first)) {
            plain.push('_');
        }
        plain.extend(taken.take(self.longest - plain.len()));
        plain
    }
}

/// Respells the names of one request: always in the same way, and never two to the same name.
#[derive(Debug, Default)]
pub(super) struct Respelled<'a> {
    /// Names that were changed.
    sent: HashMap<&'a str, String>,
}

impl<'a> Respelled<'a> {
    /// Respells every name in a request that the rule does not accept.
    pub(super) fn new(request: &'a Request, dialect: Dialect, rule: &NameRule) -> Self {
        let refused: Vec<&str> = all_names(request).filter(|name| !rule.takes(name)).collect();
        if refused.is_empty() {
            return Respelled::default();
        }
        let mut taken: HashSet<Cow<'_, str>> = all_names(request).map(Cow::Borrowed).collect();
        let own = request.tools.iter().filter_map(|tool| match tool {
            Tool::Other(tool) if tool.other.dialect == dialect => tool.other.tool_name(),
            Tool::BuiltIn(_) | Tool::Other(_) | Tool::Function(_) => None,
        });
        taken.extend(own.map(Cow::Borrowed));
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut sent: HashMap<&str, String> = HashMap::new();
        for name in refused {
            if sent.contains_key(name) {
                continue;
            }
            let base = rule.plain(name);
            let count = counts.entry(base.clone()).or_insert(1);
            let mut new = base.clone();
            while !taken.insert(Cow::Owned(new.clone())) {
                *count += 1;
                let tail = format!("_{count}");
                let room = rule.longest.saturating_sub(tail.len());
                new = base.chars().take(room).collect::<String>() + &tail;
            }
            sent.insert(name, new);
        }
        Respelled { sent }
    }

    /// Returns the name to send.
    pub(super) fn get(&self, name: &'a str) -> Cow<'a, str> {
        match self.sent.get(name) {
            Some(sent) => Cow::Owned(sent.clone()),
            None => Cow::Borrowed(name),
        }
    }

    /// Returns whether the name is sent in another spelling.
    pub(super) fn changes(&self, name: &str) -> bool {
        self.sent.contains_key(name)
    }

    /// Returns how many names are sent in another spelling.
    pub(super) fn changes_in_all(&self) -> usize {
        self.sent.len()
    }

    /// Returns the reverse mapping.
    pub(super) fn names(&self) -> ToolNames {
        ToolNames { own: self.sent.iter().map(|(own, sent)| (sent.clone(), (*own).to_owned())).collect() }
    }
}

/// Returns all names of functions, those of the tools first.
fn all_names(request: &Request) -> impl Iterator<Item = &str> {
    let chosen = match &request.tool_choice {
        Some(ToolChoice::Specific(name)) => Some(name.as_str()),
        Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Required) | None => None,
    };
    let called = request.messages.iter().flat_map(|message| &message.content).filter_map(Block::as_tool_call);
    request.tools.iter().filter_map(Tool::name).chain(chosen).chain(called.map(|call| call.name.as_str()))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
