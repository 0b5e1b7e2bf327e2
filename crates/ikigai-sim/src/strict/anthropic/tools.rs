//! Tools, tool choice, structured output.

use ikigai_core::catalog::{ForcedTools, rules_for};
use serde_json::Value;

use super::{Refusal, Wire, invalid, model, word};
use crate::strict::schema::{self, Subset};

/// The caller's own tools with their places; server tools have other types.
fn custom<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    wire.list("tools").iter().enumerate().filter(|(_, tool)| matches!(word(tool, "type"), "" | "custom"))
}

pub(super) fn names(wire: &Wire<'_>) -> Result<(), Refusal> {
    let is_good = |name: &str| {
        (1..=128).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    match custom(wire).find(|(_, tool)| !is_good(word(tool, "name"))) {
        Some((n, _)) => {
            Err(invalid(format!("tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")))
        }
        None => Ok(()),
    }
}

pub(super) fn unique(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut seen = std::collections::HashSet::new();
    let named = wire.list("tools").iter().map(|tool| word(tool, "name")).filter(|name| !name.is_empty());
    for name in named {
        if !seen.insert(name) {
            return Err(invalid("tools: Tool names must be unique."));
        }
    }
    Ok(())
}

pub(super) fn schemas(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, tool) in custom(wire) {
        let Some(schema) = tool.get("input_schema").filter(|schema| !schema.is_null()) else {
            return Err(invalid(format!("tools.{n}.custom.input_schema: Field required")));
        };
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => {}
            Some(_) => return Err(invalid(format!("tools.{n}.custom.input_schema.type: Input should be 'object'"))),
            None => return Err(invalid(format!("tools.{n}.custom.input_schema.type: Field required"))),
        }
        if let Err(reason) = schema::is_schema(schema) {
            return Err(invalid(format!(
                "tools.{n}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12: {reason}"
            )));
        }
    }
    Ok(())
}

pub(super) fn strict(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, tool) in custom(wire).filter(|(_, tool)| tool.get("strict") == Some(&Value::Bool(true))) {
        if let Some(schema) = tool.get("input_schema") {
            schema::fits(schema, Subset::Anthropic).map_err(|reason| invalid(format!("tools.{n}.custom: {reason}")))?;
        }
    }
    Ok(())
}

fn strict_schemas<'a>(wire: &Wire<'a>) -> impl Iterator<Item = &'a Value> {
    let strict = custom(wire).filter(|(_, tool)| tool.get("strict") == Some(&Value::Bool(true)));
    strict.filter_map(|(_, tool)| tool.get("input_schema"))
}

pub(super) fn strict_count(wire: &Wire<'_>) -> Result<(), Refusal> {
    let count = strict_schemas(wire).count();
    if count > 20 {
        return Err(invalid(format!(
            "Too many strict tools ({count}). The maximum number of strict tools supported is 20. Try reducing the number of tools marked as strict."
        )));
    }
    Ok(())
}

pub(super) fn strict_unions(wire: &Wire<'_>) -> Result<(), Refusal> {
    let count: usize = strict_schemas(wire).map(schema::unions).sum();
    if count > 16 {
        return Err(invalid(format!(
            "Schemas contains too many parameters with union types ({count} parameters with type arrays or anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters (limit: 16 parameters with unions)."
        )));
    }
    Ok(())
}

pub(super) fn output_format(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(schema) = wire.body.pointer("/output_config/format/schema") else { return Ok(()) };
    schema::fits(schema, Subset::Anthropic).map_err(|reason| invalid(format!("output_config.format.schema: {reason}")))
}

fn choice<'a>(wire: &Wire<'a>) -> (&'a str, &'a str) {
    wire.field("tool_choice").map_or(("", ""), |choice| (word(choice, "type"), word(choice, "name")))
}

pub(super) fn choice_known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let (kind, name) = choice(wire);
    if kind == "tool" && !wire.list("tools").iter().any(|tool| word(tool, "name") == name) {
        return Err(invalid(format!("Tool '{name}' not found in provided tools")));
    }
    Ok(())
}

pub(super) fn choice_taken(wire: &Wire<'_>) -> Result<(), Refusal> {
    let forced = matches!(choice(wire).0, "any" | "tool");
    if forced && rules_for(model(wire)).forced_tools == ForcedTools::Refused {
        return Err(invalid("tool_choice: forced tool use is not supported for this model"));
    }
    Ok(())
}
