//! Tools and the tool choice.

use std::borrow::Cow;

use super::abilities::{StrictTools, Unsaid};
use super::schema::{Count, Parsed, Root};
use super::{FittedTool, Fitting, Place};
use crate::provider::RequiredChoice;
use crate::{Error, Function, Json, Loss, LossCode, Other, Tool, ToolChoice};

impl<'a> Fitting<'a> {
    /// Returns the tools that can be offered.
    pub(super) fn tools(&mut self) -> Result<Vec<FittedTool<'a>>, Error> {
        let request = self.request;
        let mut tools = Vec::with_capacity(request.tools.len());
        let mut count = Count::default();
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => tools.push(self.function(index, function, &mut count)?),
                Tool::Other(tool) if tool.other.dialect == self.dialect => tools.push(FittedTool::Own(&tool.other)),
                // By now these are a dialect's own, or were left out.
                Tool::BuiltIn(_) => {}
                Tool::Other(tool) => self.foreign_tool(index, &tool.other),
            }
        }
        Ok(tools)
    }

    /// Returns the tools of a request that is sent as received.
    pub(super) fn tools_as_they_came(&mut self) -> Vec<FittedTool<'a>> {
        let request = self.request;
        let mut tools = Vec::with_capacity(request.tools.len());
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => {
                    self.foreign_fields(&function.provider_data, Place::Tool(index));
                    tools.push(FittedTool::Function {
                        function,
                        index,
                        name: Cow::Borrowed(&function.name),
                        parameters: Cow::Borrowed(&function.parameters),
                        strict: Some(function.strict),
                    });
                }
                Tool::Other(tool) if tool.other.dialect == self.dialect => tools.push(FittedTool::Own(&tool.other)),
                // By now these are a dialect's own, or were left out.
                Tool::BuiltIn(_) => {}
                Tool::Other(tool) => self.foreign_tool(index, &tool.other),
            }
        }
        tools
    }

    fn foreign_tool(&mut self, index: usize, other: &Other) {
        let why = format!("a tool that only {} has; left out", other.dialect);
        self.losses.push(Loss::new(LossCode::ForeignContent, "tools", Place::Tool(index).to_string(), why));
    }

    fn function(&mut self, index: usize, function: &'a Function, count: &mut Count) -> Result<FittedTool<'a>, Error> {
        self.foreign_fields(&function.provider_data, Place::Tool(index));
        if self.names.changes(&function.name) {
            let sent = self.names.get(&function.name);
            let why =
                format!("this API does not accept such names; it is sent as `{sent}`, and calls come back as asked");
            self.losses.push(Loss::info(LossCode::Renamed, "name", format!("tools[{index}].name"), why));
        }
        let parsed = Parsed::new(&function.parameters, self.limits)?;
        let place = || format!("tools[{index}].parameters");
        let (mut parameters, strict) = match parsed.root() {
            Root::Object => self.strictness(index, function, &parsed, count),
            Root::Untyped => {
                let why = "the root of the schema has no type; `object` is added";
                self.losses.push(Loss::info(LossCode::Changed, "parameters", place(), why));
                let typed = parsed.typed();
                let (parameters, strict) = {
                    let parsed = Parsed::new(&typed, self.limits)?;
                    let (parameters, strict) = self.strictness(index, function, &parsed, count);
                    (parameters.into_owned(), strict)
                };
                (Cow::Owned(parameters), strict)
            }
            Root::Other => {
                let why = "the schema is not that of an object; the tool is sent without parameters";
                self.losses.push(Loss::new(LossCode::Changed, "parameters", place(), why));
                (Cow::Owned(no_parameters()), self.unsaid())
            }
        };
        if self.quirks.chat.no_closed_schemas {
            if Parsed::opened(&function.parameters, self.limits).is_some() {
                let why = "this provider does not accept `additionalProperties: false`; left out";
                self.losses.push(Loss::info(LossCode::RefusedByProvider, "parameters", place(), why));
            }
            if let Some(opened) = Parsed::opened(&parameters, self.limits) {
                parameters = Cow::Owned(opened);
            }
        }
        Ok(FittedTool::Function { function, index, name: self.names.get(&function.name), parameters, strict })
    }

    /// Returns the schema, and whether the model must follow it: if the tool asks for that and its schema allows it.
    fn strictness<'s>(
        &mut self,
        index: usize,
        function: &'s Function,
        parsed: &Parsed<'s>,
        count: &mut Count,
    ) -> (Cow<'s, Json>, Option<bool>) {
        let as_it_is = (parsed.schema(), self.unsaid());
        let flag = match self.abilities.strict_tools {
            _ if !function.strict => return as_it_is,
            StrictTools::Missing => Err((LossCode::NotInDialect, "arguments cannot be forced to follow a schema here")),
            StrictTools::Flag { .. } if !self.rules.strict_tools => {
                Err((LossCode::RefusedByModel, "this model does not support strict tools"))
            }
            StrictTools::Flag { .. } if self.quirks.chat.no_strict_tools => {
                Err((LossCode::RefusedByProvider, "this provider does not support strict tools"))
            }
            StrictTools::Flag { subset, .. } => Ok(subset),
        };
        let place = format!("tools[{index}].strict");
        let subset = match flag {
            Ok(subset) => subset,
            Err((code, why)) => {
                // Nothing is wrong with the tool; strict is merely the default for tools.
                self.losses.push(Loss::info(code, "strict", place, format!("{why}; left out")));
                return as_it_is;
            }
        };
        let fitting = parsed.strict(subset).and_then(|fitting| {
            count.take(fitting.count)?;
            Ok(fitting)
        });
        match fitting {
            Ok(fitting) => (fitting.schema, Some(true)),
            Err(fault) => {
                let why = format!("{fault}; the tool is sent without strict");
                self.losses.push(Loss::new(LossCode::Changed, "strict", place, why));
                as_it_is
            }
        }
    }

    /// Returns the flag for a tool that is not strict.
    fn unsaid(&self) -> Option<bool> {
        match self.abilities.strict_tools {
            StrictTools::Flag { unsaid: Unsaid::Strict, .. } => Some(false),
            StrictTools::Flag { unsaid: Unsaid::Lenient, .. } => {
                (self.rules.strict_tools && !self.quirks.chat.no_strict_tools).then_some(false)
            }
            StrictTools::Missing => None,
        }
    }

    /// Returns the tool choice, with names as they are sent. It may remove tools if the provider requires that.
    pub(super) fn choice(&mut self, tools: &mut Vec<FittedTool<'a>>) -> Option<ToolChoice> {
        let mut choice = self.request.tool_choice.clone()?;
        let counts = |tool: &FittedTool<'_>| {
            matches!(tool, FittedTool::Function { .. }) || self.abilities.choice_of_own_tools.is_taken()
        };
        if !tools.iter().any(counts) {
            let why = if tools.is_empty() {
                "there are no tools to choose from; left out"
            } else {
                "the choice is only about functions, and there are none; left out"
            };
            self.lose_choice(&choice, LossCode::Conflict, why);
            return None;
        }
        if let ToolChoice::Specific(name) = &choice {
            let sent = self.names.get(name).into_owned();
            if !tools.iter().any(|tool| has_name(tool, name)) {
                self.lose_choice(&choice, LossCode::Conflict, "there is no tool of this name; left out");
                return None;
            }
            choice = ToolChoice::Specific(sent);
        }
        if choice == ToolChoice::None && self.quirks.chat.no_tools_on_none {
            let why = "this provider calls tools even if told not to; none is offered";
            self.losses.push(Loss::info(LossCode::RefusedByProvider, "tools", "tools", why));
            tools.clear();
            return None;
        }
        Some(self.forced_by_provider(choice, tools))
    }

    /// Returns a forced tool in the form that the provider accepts.
    fn forced_by_provider(&mut self, choice: ToolChoice, tools: &mut Vec<FittedTool<'a>>) -> ToolChoice {
        let no_word = self.quirks.chat.tool_choice_required == RequiredChoice::Refused;
        match choice {
            ToolChoice::Auto | ToolChoice::None => choice,
            ToolChoice::Specific(_) if !self.quirks.chat.no_specific_tool => choice,
            ToolChoice::Required | ToolChoice::Specific(_) if no_word => {
                let why = "this provider cannot force a tool; auto is sent";
                self.lose_choice(&choice, LossCode::RefusedByProvider, why);
                ToolChoice::Auto
            }
            ToolChoice::Required => choice,
            ToolChoice::Specific(name) => {
                let why = format!(
                    "this provider cannot name the tool to use; only `{name}` is offered, and a call is required"
                );
                self.losses.push(Loss::new(LossCode::RefusedByProvider, "tool_choice", "tool_choice", why));
                tools.retain(|tool| matches!(tool, FittedTool::Function { name: own, .. } if *own == name));
                ToolChoice::Required
            }
        }
    }

    /// Reports that a choice is dropped: a loss if it forced a tool.
    pub(super) fn lose_choice(&mut self, choice: &ToolChoice, code: LossCode, why: &str) {
        let loss = match choice {
            ToolChoice::Auto | ToolChoice::None => Loss::info(code, "tool_choice", "tool_choice", why),
            ToolChoice::Required | ToolChoice::Specific(_) => Loss::new(code, "tool_choice", "tool_choice", why),
        };
        self.losses.push(loss);
    }

    /// Returns whether several tools may be called at once, if that can be expressed.
    pub(super) fn parallel(&mut self, tools: &[FittedTool<'_>], choice: Option<&ToolChoice>) -> Option<bool> {
        let name = "parallel_tool_calls";
        let parallel = self.request.parallel_tool_calls?;
        let nothing = if tools.is_empty() {
            Some("it means nothing without tools; left out")
        } else if choice == Some(&ToolChoice::None) {
            Some("no tool is called at all, so it has no effect; left out")
        } else {
            None
        };
        if let Some(why) = nothing {
            self.losses.push(Loss::info(LossCode::Conflict, name, name, why));
            return None;
        }
        let refusal = if !self.abilities.parallel_tool_calls.is_taken() {
            Some((LossCode::NotInDialect, "one call at a time cannot be requested here"))
        } else if !self.rules.parallel_tool_calls {
            Some((LossCode::RefusedByModel, "this model does not accept it; left out"))
        } else {
            None
        };
        let Some((code, why)) = refusal else { return Some(parallel) };
        self.losses.push(match parallel {
            // Several at once are the default.
            true => Loss::info(code, name, name, why),
            false => Loss::new(code, name, name, why),
        });
        None
    }
}

/// Returns whether a tool had this name before it was respelled.
fn has_name(tool: &FittedTool<'_>, name: &str) -> bool {
    match tool {
        FittedTool::Function { function, .. } => function.name == name,
        FittedTool::Own(other) => other.tool_name() == Some(name),
    }
}

fn no_parameters() -> Json {
    serde_json::json!({"type": "object", "properties": {}}).into()
}
