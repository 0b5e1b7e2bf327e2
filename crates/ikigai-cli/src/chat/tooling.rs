//! The tools of a conversation, and what the person allowed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ikigai::{Callable, ToolCall};
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::tools::{self, Answer, Decision, Described, Permissions, Scope};

/// Under this name a conversation remembers what was allowed.
const KEPT: &str = "permissions";

/// The tools of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Tooling {
    scope: Arc<Scope>,
    /// Tools of MCP servers.
    borrowed: Vec<Callable>,
    permissions: Permissions,
    on: bool,
}

impl Tooling {
    /// The tools for a working folder, and what else they may reach.
    pub(crate) fn new(folder: &Path, allowed: &[PathBuf], on: bool) -> Result<Self, Failure> {
        let scope = Scope::new(folder).map_err(|error| Failure::file("work in", folder, &error))?;
        let scope = allowed.iter().fold(scope, |scope, path| scope.allow(path));
        Ok(Tooling { scope: Arc::new(scope), borrowed: Vec::new(), permissions: Permissions::default(), on })
    }

    /// All that the model may call.
    pub(crate) fn callables(&self) -> Vec<Callable> {
        if !self.on {
            return Vec::new();
        }
        let mut all = tools::all(&self.scope);
        all.extend(self.borrowed.iter().cloned());
        all
    }

    /// The tools of MCP servers, in place of those before.
    pub(crate) fn borrow(&mut self, tools: Vec<Callable>) {
        self.borrowed = tools;
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

    /// What a call will do, in words.
    pub(crate) fn describe(&self, call: &ToolCall) -> Described {
        tools::describe(&self.scope, &call.name, &call.arguments)
    }

    pub(crate) fn decide(&self, name: &str) -> Decision {
        self.permissions.decide(name)
    }

    pub(crate) fn remember(&mut self, name: &str, answer: Answer) {
        self.permissions.remember(name, answer);
    }

    pub(crate) fn ask_again(&mut self, name: &str) {
        self.permissions.forget(name);
    }

    /// What is allowed and what is not, as the conversation keeps it.
    pub(crate) fn kept(&self, mut metadata: Map<String, Value>) -> Map<String, Value> {
        if let Ok(value) = serde_json::to_value(&self.permissions) {
            metadata.insert(KEPT.to_owned(), value);
        }
        metadata
    }

    /// What was allowed in a conversation that was kept.
    pub(crate) fn restore(&mut self, metadata: &Map<String, Value>) {
        let kept = metadata.get(KEPT).and_then(|value| serde_json::from_value(value.clone()).ok());
        self.permissions = kept.unwrap_or_default();
    }

    /// Nothing is allowed yet.
    pub(crate) fn forget(&mut self) {
        self.permissions = Permissions::default();
    }

    /// Every tool with what was decided about it.
    pub(crate) fn list(&self) -> Vec<(String, Decision)> {
        let all = tools::all(&self.scope);
        let names = all.iter().chain(&self.borrowed).filter_map(|tool| tool.definition().name());
        names.map(|name| (name.to_owned(), self.permissions.decide(name))).collect()
    }
}
