//! The rules for a request.

use std::collections::HashMap;

use super::content::{self, Inside};
use super::schema::{says_object, schema_fault};
use super::{At, Invalid, Problem, refuse, turns};
use crate::{Level, Message, OutputFormat, Request, Role, Tool, ToolChoice};

impl Request {
    /// Checks every rule that a request must meet before it is worth sending.
    ///
    /// ```
    /// use ikigai_core::Request;
    ///
    /// let invalid = Request::new("").user("Hello").max_output_tokens(0).validate().unwrap_err();
    /// assert_eq!(
    ///     invalid.to_string(),
    ///     "model: no model is named; set one, such as `claude-sonnet-4-5`\n\
    ///      max_output_tokens: 0 is not a valid limit; give at least 1, or leave it out (or -1) for the provider's default",
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns an error if a hard rule is broken. The error lists all problems, including soft ones.
    pub fn validate(&self) -> Result<(), Invalid> {
        refuse(self.problems())
    }

    /// Returns all problems of the request, hard and soft. A request with only soft problems is valid.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.model.trim().is_empty() {
            problems.push(Problem::NoModel);
        }
        for (place, block) in self.system.iter().enumerate() {
            content::block(At::System(place), block, Inside::Prompt, &mut problems);
        }
        if self.messages.is_empty() {
            problems.push(Problem::NoMessages);
        }
        messages(&self.messages, &mut problems);
        self.thinking_problems(&mut problems);
        self.tool_problems(&mut problems);
        self.number_problems(&mut problems);
        if let Some(OutputFormat::JsonSchema(format)) = &self.output_format {
            if let Some(name) = format.name.as_ref().filter(|name| !is_word(name, 64)) {
                problems.push(Problem::BadFormatName { name: name.clone() });
            }
            if let Some(why) = schema_fault(format.schema.value()) {
                problems.push(Problem::BadSchema { at: "output_format.json_schema.schema".to_owned(), why });
            }
        }
        problems
    }

    fn thinking_problems(&self, problems: &mut Vec<Problem>) {
        let Some(thinking) = &self.thinking else { return };
        match thinking.budget {
            Some(value) if value < -1 || value > i64::from(i32::MAX) => {
                problems.push(Problem::ThinkingBudget { value })
            }
            Some(budget) if budget != 0 && thinking.level == Some(Level::None) => {
                problems.push(Problem::LevelAgainstBudget { budget });
            }
            Some(_) | None => {}
        }
    }

    fn tool_problems(&self, problems: &mut Vec<Problem>) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (place, tool) in self.tools.iter().enumerate() {
            let Some(function) = tool.as_function() else { continue };
            let name = || function.name.clone();
            if !is_name(&function.name) {
                problems.push(Problem::BadToolName { at: format!("tools[{place}].name"), name: name() });
            } else if !is_portable(&function.name) {
                problems.push(Problem::UnportableToolName { at: format!("tools[{place}].name"), name: name() });
            }
            let first = *seen.entry(&function.name).or_insert(place);
            if first != place {
                problems.push(Problem::DuplicateTool {
                    at: format!("tools[{place}]"),
                    name: name(),
                    first: format!("tools[{first}]"),
                });
            }
            let at = || format!("tools[{place}].parameters");
            match schema_fault(function.parameters.value()) {
                Some(why) => problems.push(Problem::BadSchema { at: at(), why }),
                None => match says_object(function.parameters.value()) {
                    Some(true) => {}
                    Some(false) => {
                        let why = "its root must describe an object; set \"type\": \"object\"".to_owned();
                        problems.push(Problem::BadSchema { at: at(), why });
                    }
                    None => problems.push(Problem::SchemaWithoutType { at: at() }),
                },
            }
        }
        match &self.tool_choice {
            Some(ToolChoice::Required | ToolChoice::Specific(_)) if self.tools.is_empty() => {
                problems.push(Problem::ToolChoiceWithoutTools);
            }
            Some(ToolChoice::Specific(name)) => {
                let known: Vec<&str> = self.tools.iter().filter_map(any_name).collect();
                if !known.contains(&name.as_str()) {
                    problems.push(Problem::UnknownTool { name: name.clone(), known: known.join(", ") });
                }
            }
            Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Required) | None => {}
        }
    }

    fn number_problems(&self, problems: &mut Vec<Problem>) {
        if let Some(value) = self.max_output_tokens.filter(|value| *value == 0 || *value < -1) {
            problems.push(Problem::OutputLimit { value });
        }
        let ranges: [(&'static str, Option<f64>, std::ops::RangeInclusive<f64>, &'static str); 4] = [
            ("temperature", self.temperature, 0.0..=2.0, "0 to 2"),
            ("top_p", self.top_p, 0.0..=1.0, "0 to 1"),
            ("frequency_penalty", self.frequency_penalty, -2.0..=2.0, "-2 to 2"),
            ("presence_penalty", self.presence_penalty, -2.0..=2.0, "-2 to 2"),
        ];
        for (at, value, taken, range) in ranges {
            if let Some(value) = value.filter(|value| !taken.contains(value)) {
                problems.push(Problem::OutOfRange { at, value: value.to_string(), range });
            }
        }
        if let Some(value) = self.top_k.filter(|value| *value < 0) {
            problems.push(Problem::OutOfRange { at: "top_k", value: value.to_string(), range: "0 up" });
        }
        for (place, stop) in self.stop.iter().enumerate() {
            if stop.is_empty() {
                problems.push(Problem::EmptyStop { at: format!("stop[{place}]") });
            }
        }
    }
}

/// Checks the rules for a list of messages.
pub(crate) fn messages(messages: &[Message], problems: &mut Vec<Problem>) {
    match messages.first().map(|first| first.role) {
        Some(Role::System) => problems.push(Problem::SystemFirst),
        Some(role @ (Role::Assistant | Role::Tool)) => {
            problems.push(Problem::FirstNotUser { at: At::Message(0).to_string(), role });
        }
        Some(Role::User) | None => {}
    }
    for (index, message) in messages.iter().enumerate() {
        if message.content.is_empty() {
            problems.push(Problem::EmptyMessage { at: At::Message(index).to_string(), role: message.role });
        }
        for (place, block) in message.content.iter().enumerate() {
            content::block(At::Block(index, place), block, Inside::Message(message.role), problems);
        }
    }
    turns::check(messages, problems);
    if let Some(last) = messages.last()
        && last.role == Role::Assistant
        && last.content.iter().all(|block| block.as_tool_call().is_none())
    {
        problems.push(Problem::EndsWithAssistant { at: At::Message(messages.len() - 1).to_string() });
    }
}

/// Returns the name by which a tool can be chosen.
fn any_name(tool: &Tool) -> Option<&str> {
    match tool {
        Tool::Function(function) => Some(&function.name),
        Tool::BuiltIn(tool) => Some(tool.tool().as_str()),
        Tool::Other(tool) => tool.other.tool_name(),
    }
}

/// Returns whether some provider accepts it as a tool's name.
fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b))
}

/// Returns whether all providers accept it as a tool's name.
fn is_portable(name: &str) -> bool {
    is_word(name, 64) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

fn is_word(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
