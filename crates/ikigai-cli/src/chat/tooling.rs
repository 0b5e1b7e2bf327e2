//! The tools of a chat, and what the user allowed in this folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ikigai::{Callable, ProviderTool, Tool, ToolCall};
use serde_json::Value;

use crate::digest;
use crate::exit::Failure;
use crate::places::Places;
use crate::tools::{self, Decision, Described, Kind, Permissions, Prefix, Rule, Scope};

/// How long the description of a call waits until earlier changes are made.
const CHANGES_TAKE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The longest name of a tool that every provider accepts.
const LONGEST_NAME: usize = 64;

/// The tools of a chat.
#[derive(Debug, Clone)]
pub(crate) struct Tooling {
    scope: Arc<Scope>,
    /// Tools of MCP servers.
    borrowed: Vec<Callable>,
    permissions: Permissions,
    on: bool,
    /// Tools that the provider runs in this conversation.
    provided: BTreeSet<ProviderTool>,
}

/// The provider-run tools that can be turned on.
pub(crate) const PROVIDED: [ProviderTool; 3] =
    [ProviderTool::WebSearch, ProviderTool::WebFetch, ProviderTool::CodeExecution];

impl Tooling {
    /// Creates the tools for a working folder and other allowed paths.
    pub(crate) fn new(folder: &Path, allowed: &[PathBuf], on: bool) -> Result<Self, Failure> {
        let scope = Scope::new(folder).map_err(|error| Failure::file("work in", folder, &error))?;
        let scope = allowed.iter().fold(scope, |scope, path| scope.allow(path));
        let permissions = Permissions::open(Places::find().map(|places| places.approvals()), scope.root())?;
        Ok(Tooling { scope: Arc::new(scope), borrowed: Vec::new(), permissions, on, provided: BTreeSet::new() })
    }

    /// Returns all tools that the model may call.
    pub(crate) fn callables(&self) -> Vec<Callable> {
        let mut all = Vec::new();
        if self.on {
            all.extend(tools::all(&self.scope));
            all.extend(self.borrowed.iter().cloned());
        }
        let provided = self.provided.iter().filter_map(|tool| match tool {
            ProviderTool::WebSearch => Some(Tool::web_search()),
            ProviderTool::WebFetch => Some(Tool::web_fetch()),
            ProviderTool::CodeExecution => Some(Tool::code_execution()),
            // Not one of those that can be turned on.
            _ => None,
        });
        all.extend(provided.map(Callable::from));
        all
    }

    /// Returns the tools that the provider runs.
    pub(crate) fn provided(&self) -> &BTreeSet<ProviderTool> {
        &self.provided
    }

    /// Lets the provider run these tools and no others.
    pub(crate) fn provide(&mut self, tools: BTreeSet<ProviderTool>) {
        self.provided = tools;
    }

    /// Replaces the tools of MCP servers. A name that one of our tools or another server's already has gets a number, so
    /// that each name means one tool.
    pub(crate) fn borrow(&mut self, tools: Vec<Callable>) {
        let ours = tools::all(&self.scope);
        let mut taken: Vec<String> =
            ours.iter().filter_map(|tool| tool.definition().name()).map(str::to_owned).collect();
        self.borrowed.clear();
        for tool in tools {
            let own = tool.definition().name().unwrap_or_default().to_owned();
            let mut name = own.clone();
            let mut count = 2;
            while taken.contains(&name) {
                let room: String = own.chars().take(LONGEST_NAME - 4).collect();
                name = format!("{room}_{count}");
                count += 1;
            }
            self.borrowed.push(if name == own { tool } else { tool.named(name.as_str()) });
            taken.push(name);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    pub(crate) fn turn(&mut self, on: bool) {
        self.on = on;
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Describes what a call will do, once earlier changes are made.
    pub(crate) async fn describe(&self, call: &ToolCall) -> Described {
        let made = async {
            while self.scope.is_changing() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let _ = tokio::time::timeout(CHANGES_TAKE, made).await;
        tools::describe(&self.scope, &call.name, &call.arguments)
    }

    /// Decides about a call.
    pub(crate) fn decide(&self, call: &ToolCall, told: &Described) -> Decision {
        if let Some(why) = &told.fails {
            return Decision::Refuse(why.clone());
        }
        if self.permissions.refuses(&call.name) {
            return Decision::Refuse("the user has turned this tool off in this folder".to_owned());
        }
        let is_ours = !self.borrowed.iter().any(|tool| tool.definition().name() == Some(&call.name));
        let allowed = match tools::kind(&call.name) {
            Kind::Reads if is_ours => return Decision::Run,
            Kind::Runs if is_ours => call.arguments.get("command").and_then(Value::as_str).is_some_and(|command| {
                self.permissions.allows_command(command, |word| self.scope.resolve(word).is_ok())
            }),
            Kind::Reads | Kind::Changes | Kind::Runs => {
                self.definition(&call.name).is_some_and(|definition| self.permissions.allows(&call.name, &definition))
            }
        };
        let rule = self.rule(call, told);
        if allowed && rule.is_some() { Decision::Run } else { Decision::Ask(rule) }
    }

    /// Returns the rule that "always" would set for a call; `None` for calls that are asked about every time.
    fn rule(&self, call: &ToolCall, told: &Described) -> Option<Rule> {
        let outside = told.promise.as_ref().is_some_and(|promise| !self.scope.is_inside(promise.path()));
        if outside || !told.warnings.is_empty() {
            return None;
        }
        if call.name == "shell" {
            return Prefix::of(call.arguments.get("command")?.as_str()?).map(Rule::Command);
        }
        Some(Rule::Tool { name: call.name.clone(), definition: self.definition(&call.name)? })
    }

    /// Returns a digest of a tool's definition.
    fn definition(&self, name: &str) -> Option<String> {
        let tools = tools::all(&self.scope);
        let tool = tools.iter().chain(&self.borrowed).find(|tool| tool.definition().name() == Some(name))?;
        let text = serde_json::to_vec(tool.definition()).ok()?;
        Some(digest::sha256(&text))
    }

    /// Allows calls according to a rule from now on in this folder.
    pub(crate) fn always(&mut self, rule: Rule) -> Result<(), Failure> {
        self.permissions.always(rule)
    }

    /// Lets a tool run without asking from now on in this folder.
    pub(crate) fn always_tool(&mut self, name: &str) -> Result<(), Failure> {
        if name == "shell" {
            let failure = Failure::new("the shell cannot be allowed as a whole");
            return Err(failure.hint("When a command asks, [a] allows commands that start the same way."));
        }
        match self.definition(name) {
            Some(definition) => self.always(Rule::Tool { name: name.to_owned(), definition }),
            None => Err(Failure::new(format!("there is no tool `{name}`"))),
        }
    }

    pub(crate) fn never(&mut self, name: &str) -> Result<(), Failure> {
        self.permissions.never(name)
    }

    pub(crate) fn ask_again(&mut self, name: &str) -> Result<(), Failure> {
        self.permissions.ask_again(name)
    }

    /// Lists every tool with when it runs, in words.
    pub(crate) fn list(&self) -> Vec<(String, String)> {
        let all = tools::all(&self.scope);
        let ours = all.len();
        let names = all.iter().chain(&self.borrowed).map(|tool| tool.definition().name().unwrap_or_default());
        let words = |place: usize, name: &str| {
            let allowed = self.definition(name).is_some_and(|definition| self.permissions.allows(name, &definition));
            match tools::kind(name) {
                _ if self.permissions.refuses(name) => "never".to_owned(),
                Kind::Reads if place < ours => "runs without asking".to_owned(),
                Kind::Runs if place < ours => match self.permissions.commands() {
                    commands if commands.is_empty() => "asks first".to_owned(),
                    commands => format!("asks first, except {}", commands.join(", ")),
                },
                _ if allowed => "always allowed in this folder".to_owned(),
                _ => "asks first".to_owned(),
            }
        };
        names.enumerate().map(|(place, name)| (name.to_owned(), words(place, name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn tool(name: &str, says: &'static str) -> Callable {
        Callable::new(ikigai::Tool::new(name, "What it does."), move |_| async move { says })
    }

    #[tokio::test]
    async fn each_name_means_one_tool_and_never_ours_in_place_of_a_servers() {
        let folder = tempfile::tempdir().unwrap();
        let mut tooling = Tooling::new(folder.path(), &[], true).unwrap();
        let long = "x".repeat(LONGEST_NAME);
        let names = ["a__find", "read_file", "a__find", long.as_str(), long.as_str(), "a__find"];
        tooling.borrow(names.iter().map(|name| tool(name, "a server's")).collect());
        let given: Vec<String> =
            tooling.borrowed.iter().filter_map(|tool| tool.definition().name()).map(str::to_owned).collect();
        let cut = format!("{}_2", "x".repeat(LONGEST_NAME - 4));
        assert_eq!(given, ["a__find", "read_file_2", "a__find_2", long.as_str(), cut.as_str(), "a__find_3"]);
        // The server's tool needs approval although ours does not.
        let call = |name: &str| ToolCall::new("c1", name, ikigai::format::Arguments::default());
        let told = tooling.describe(&call("read_file_2")).await;
        assert!(matches!(tooling.decide(&call("read_file_2"), &told), Decision::Ask(_)));
    }
}
