//! Contents and their parts.

use ikigai_core::catalog::rules_for;
use serde_json::Value;

use super::{Refusal, Wire, invalid, member, members, model};
use crate::seals::Purpose;
use crate::strict::word;

/// Accepted instead of a signature, for history that never had one.
const DUMMIES: &[&str] = &["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

const DATA: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "videoMetadata",
];

fn contents<'a>(wire: &Wire<'a>) -> &'a [Value] {
    members(wire.body, "contents")
}

fn parts(content: &Value) -> &[Value] {
    members(content, "parts")
}

fn has_response(content: &Value) -> bool {
    parts(content).iter().any(|part| member(part, "functionResponse").is_some())
}

fn is_model(content: &Value) -> bool {
    word(content, "role") == "model"
}

pub(super) fn given(wire: &Wire<'_>) -> Result<(), Refusal> {
    if contents(wire).is_empty() {
        return Err(invalid("* GenerateContentRequest.contents: contents is not specified\n"));
    }
    Ok(())
}

pub(super) fn roles(wire: &Wire<'_>) -> Result<(), Refusal> {
    let known = ["", "user", "model", "function", "tool"];
    if contents(wire).iter().all(|content| known.contains(&word(content, "role"))) {
        return Ok(());
    }
    Err(invalid("Please use a valid role: user, model."))
}

pub(super) fn parts_given(wire: &Wire<'_>) -> Result<(), Refusal> {
    match contents(wire).iter().position(|content| parts(content).is_empty()) {
        Some(n) => {
            Err(invalid(format!("* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty.\n")))
        }
        None => Ok(()),
    }
}

pub(super) fn parts_hold_something(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, content) in contents(wire).iter().enumerate() {
        for (m, part) in parts(content).iter().enumerate() {
            if !DATA.iter().any(|name| member(part, name).is_some()) {
                return Err(invalid(format!(
                    "* GenerateContentRequest.contents[{n}].parts[{m}].data: required oneof field 'data' must have one initialized field\n"
                )));
            }
        }
    }
    Ok(())
}

/// Consecutive contents of one role, which count as one turn: the official chat helpers send each streamed chunk of the
/// model as a separate content.
struct Turn<'a> {
    is_model: bool,
    parts: Vec<&'a Value>,
}

impl Turn<'_> {
    fn count(&self, name: &str) -> usize {
        self.parts.iter().filter(|part| member(part, name).is_some()).count()
    }
}

fn turns(contents: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for content in contents {
        let is_model = is_model(content);
        match turns.last_mut() {
            Some(last) if last.is_model == is_model => last.parts.extend(parts(content)),
            _ => turns.push(Turn { is_model, parts: parts(content).iter().collect() }),
        }
    }
    turns
}

pub(super) fn calls_follow(wire: &Wire<'_>) -> Result<(), Refusal> {
    // Turns of the model and of the user alternate, so only the first can be out of place.
    match turns(contents(wire)).first() {
        Some(first) if first.is_model && first.count("functionCall") > 0 => Err(invalid(
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        )),
        _ => Ok(()),
    }
}

pub(super) fn calls_answered(wire: &Wire<'_>) -> Result<(), Refusal> {
    let turns = turns(contents(wire));
    let before = std::iter::once(None).chain(turns.iter().map(Some));
    for (turn, before) in turns.iter().zip(before).filter(|(turn, _)| !turn.is_model) {
        let calls = before.map_or(0, |before| before.count("functionCall"));
        let answers = turn.count("functionResponse");
        if answers > 0 && calls == 0 {
            return Err(invalid(
                "Please ensure that function response turn comes immediately after a function call turn.",
            ));
        }
        // The calls of a turn may all lack responses, at the end or before other words; otherwise each must have one.
        if answers > 0 && answers != calls {
            return Err(invalid(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            ));
        }
    }
    Ok(())
}

pub(super) fn responses_named(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, content) in contents(wire).iter().enumerate() {
        for (m, part) in parts(content).iter().enumerate() {
            let Some(response) = member(part, "functionResponse") else { continue };
            let place = format!("* GenerateContentRequest.contents[{n}].parts[{m}].function_response");
            if word(response, "name").is_empty() {
                return Err(invalid(format!("{place}.name: Name cannot be empty.\n")));
            }
            if response.get("response").is_some_and(|payload| !payload.is_object()) {
                return Err(invalid(format!("{place}.response: must be an object\n")));
            }
        }
    }
    Ok(())
}

/// What came after the user last said something: only there are signatures required.
fn current_turn<'a>(wire: &Wire<'a>) -> &'a [Value] {
    let contents = contents(wire);
    let last = contents.iter().rposition(|content| !is_model(content) && !has_response(content));
    contents.get(last.map_or(0, |last| last + 1)..).unwrap_or_default()
}

fn signature(part: &Value) -> &str {
    member(part, "thoughtSignature").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn signed(wire: &Wire<'_>) -> Result<(), Refusal> {
    if !rules_for(model(wire)).signatures_required {
        return Ok(());
    }
    for turn in turns(current_turn(wire)).iter().filter(|turn| turn.is_model) {
        let first = turn.parts.iter().find(|part| member(part, "functionCall").is_some());
        if let Some(part) = first.filter(|part| signature(part).is_empty()) {
            let name = member(part, "functionCall").map_or("", |call| word(call, "name"));
            return Err(invalid(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`"
            )));
        }
    }
    Ok(())
}

/// What the API's own tools did must come back with its signatures, in which the substance is sealed.
pub(super) fn tools_signed(wire: &Wire<'_>) -> Result<(), Refusal> {
    for part in contents(wire).iter().flat_map(parts).filter(|part| signature(part).is_empty()) {
        for (name, words) in [("toolCall", "Tool call"), ("toolResponse", "Tool response")] {
            if member(part, name).is_some() {
                return Err(invalid(format!("{words} is missing a thought_signature in {name} parts.")));
            }
        }
    }
    Ok(())
}

pub(super) fn tools_called(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut called = std::collections::HashSet::new();
    for part in contents(wire).iter().flat_map(parts) {
        if let Some(call) = member(part, "toolCall") {
            called.insert(word(call, "id"));
        }
        if member(part, "toolResponse").is_some_and(|response| !called.contains(word(response, "id"))) {
            return Err(invalid("Please ensure that a tool response comes after its tool call."));
        }
    }
    Ok(())
}

/// What a signature is for: the function's name, or the id of a call of the API's tools.
fn signed_for(part: &Value) -> &str {
    let of = |name: &str, field: &str| member(part, name).map(|member| word(member, field));
    of("functionCall", "name")
        .or_else(|| {
            ["toolCall", "toolResponse", "executableCode", "codeExecutionResult"].iter().find_map(|name| of(name, "id"))
        })
        .unwrap_or_default()
}

pub(super) fn genuine(wire: &Wire<'_>) -> Result<(), Refusal> {
    for part in contents(wire).iter().flat_map(parts) {
        let signature = signature(part);
        let name = signed_for(part);
        let known = signature.is_empty()
            || is_dummy(signature)
            || wire.memory.seals.open(Purpose::Thought, &[name], signature).is_some();
        if !known {
            return Err(invalid("Thought signature is not valid"));
        }
    }
    Ok(())
}

/// Clients that treat the signature as bytes send the dummy in base64.
fn is_dummy(signature: &str) -> bool {
    use base64::Engine as _;
    let decoded = base64::engine::general_purpose::STANDARD.decode(signature).unwrap_or_default();
    DUMMIES.iter().any(|dummy| signature == *dummy || decoded == dummy.as_bytes())
}
