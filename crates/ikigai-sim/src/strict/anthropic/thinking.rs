//! Thinking, and what goes with it.

use ikigai_core::Level;
use ikigai_core::catalog::{ThinkingKind, ThinkingOff, rules_for};
use serde_json::Value;

use super::{Refusal, Wire, blocks, invalid, model, thinking_type, word};
use crate::seals::Purpose;

pub(super) fn kind(wire: &Wire<'_>) -> Result<(), Refusal> {
    let rule = &rules_for(model(wire)).thinking;
    let adaptive = rule.kind == ThinkingKind::Adaptive;
    match thinking_type(wire) {
        "" | "between_tools" if rule.off == ThinkingOff::BetweenTools || thinking_type(wire).is_empty() => Ok(()),
        "enabled" if !adaptive || rule.takes_budget => Ok(()),
        "enabled" => Err(unsupported("enabled")),
        "adaptive" if adaptive => Ok(()),
        "adaptive" => Err(invalid("adaptive thinking is not supported on this model")),
        "disabled" if matches!(rule.off, ThinkingOff::Silence | ThinkingOff::Word) => Ok(()),
        "disabled" => Err(unsupported("disabled")),
        other => Err(invalid(format!(
            "thinking: Input tag '{other}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'"
        ))),
    }
}

fn unsupported(kind: &str) -> Refusal {
    invalid(format!(
        "\"thinking.type.{kind}\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."
    ))
}

fn budget(wire: &Wire<'_>) -> Option<u64> {
    (thinking_type(wire) == "enabled")
        .then(|| wire.body.pointer("/thinking/budget_tokens").and_then(Value::as_u64).unwrap_or(0))
}

pub(super) fn least(wire: &Wire<'_>) -> Result<(), Refusal> {
    match budget(wire) {
        Some(..1024) => Err(invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")),
        _ => Ok(()),
    }
}

pub(super) fn fits(wire: &Wire<'_>) -> Result<(), Refusal> {
    let max_tokens = wire.field("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    let interleaved = wire
        .headers
        .get_all("anthropic-beta")
        .iter()
        .any(|value| String::from_utf8_lossy(value.as_bytes()).contains("interleaved-thinking"));
    match budget(wire) {
        Some(budget) if budget >= max_tokens && !(interleaved && wire.field("tools").is_some()) => Err(invalid(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation on max tokens and thinking.",
        )),
        _ => Ok(()),
    }
}

pub(super) fn effort(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(effort) = wire.body.pointer("/output_config/effort").and_then(Value::as_str) else { return Ok(()) };
    let rule = &rules_for(model(wire)).thinking;
    let known = effort.parse::<Level>();
    if rule.levels.is_empty() {
        return Err(invalid("This model does not support the effort parameter."));
    }
    match known {
        Ok(level) if rule.levels.contains(&level) => Ok(()),
        _ => Err(invalid(format!("output_config.effort: effort '{effort}' is not supported for this model"))),
    }
}

pub(super) fn sampling(wire: &Wire<'_>) -> Result<(), Refusal> {
    if !matches!(thinking_type(wire), "enabled" | "adaptive") {
        return Ok(());
    }
    let number = |name: &str| wire.field(name).and_then(Value::as_f64);
    if number("temperature").is_some_and(|value| value != 1.0) {
        return Err(invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."));
    }
    if number("top_k").is_some() {
        return Err(invalid("`top_k` must be unset when thinking is enabled."));
    }
    if number("top_p").is_some_and(|value| !(0.95..=1.0).contains(&value)) {
        return Err(invalid("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."));
    }
    Ok(())
}

pub(super) fn forced_tools(wire: &Wire<'_>) -> Result<(), Refusal> {
    let forced = matches!(wire.field("tool_choice").map_or("", |choice| word(choice, "type")), "any" | "tool");
    if forced && thinking_type(wire) == "enabled" {
        return Err(invalid("Thinking may not be enabled when tool_choice forces tool use."));
    }
    Ok(())
}

/// Every thinking block, with the place of its message and its own.
fn thoughts<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, usize, &'a Value)> {
    wire.list("messages").iter().enumerate().flat_map(|(n, message)| {
        let thoughts = blocks(message).iter().enumerate().filter(|(_, block)| word(block, "type") == "thinking");
        thoughts.map(move |(m, block)| (n, m, block))
    })
}

pub(super) fn signed(wire: &Wire<'_>) -> Result<(), Refusal> {
    match thoughts(wire).find(|(_, _, block)| block.get("signature").is_none_or(Value::is_null)) {
        Some((n, m, _)) => Err(invalid(format!("messages.{n}.content.{m}.thinking.signature: Field required"))),
        None => Ok(()),
    }
}

/// A signature is valid for the text and the model that it was made for.
pub(super) fn genuine(wire: &Wire<'_>) -> Result<(), Refusal> {
    let genuine = |block: &Value| {
        let (text, signature) = (word(block, "thinking"), word(block, "signature"));
        wire.memory.seals.open(Purpose::Thinking, &[model(wire), text], signature).is_some()
    };
    match thoughts(wire).find(|(_, _, block)| !genuine(block)) {
        Some((n, m, _)) => Err(invalid(format!("messages.{n}.content.{m}: Invalid `signature` in `thinking` block"))),
        None => Ok(()),
    }
}

/// With manual thinking, the turn that waits for tool results must begin with thinking.
pub(super) fn begins_tool_turn(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    let ends_with_results =
        messages.last().is_some_and(|last| blocks(last).iter().any(|block| word(block, "type") == "tool_result"));
    if thinking_type(wire) != "enabled" || !ends_with_results {
        return Ok(());
    }
    let asked = messages.iter().rposition(|message| {
        word(message, "role") == "user" && !blocks(message).iter().any(|block| word(block, "type") == "tool_result")
    });
    let turn = asked.map_or(0, |asked| asked + 1);
    let Some(first) = messages.get(turn) else { return Ok(()) };
    match blocks(first).first().map(|block| word(block, "type")) {
        None | Some("thinking" | "redacted_thinking") => Ok(()),
        Some(found) => Err(invalid(format!(
            "messages.{turn}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
        ))),
    }
}
