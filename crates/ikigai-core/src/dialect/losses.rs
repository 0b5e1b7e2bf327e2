//! Losses that all dialects have in common.

use std::borrow::Cow;

use serde_json::Value;

use super::openai_error::is_number;
use crate::{Dialect, Error, Event, Fields, Json, Loss, LossCode, Other, Part, ProviderData, Response, Usage};

/// The field in which both of OpenAI's APIs name the tier that served an answer.
const SERVICE_TIER: &str = "service_tier";

/// The field in which Anthropic names the stop sequence that ended an answer.
const STOP_SEQUENCE: &str = "stop_sequence";

/// Notes what dialects other than `own` left in `data` that `own` cannot write: one loss per dialect, which names its
/// fields. `place` is the prefix of `provider_data`: empty, or something like `content[2].`.
pub(crate) fn note_foreign(data: &ProviderData, own: Dialect, parts: &[Part], place: &str, losses: &mut Vec<Loss>) {
    for dialect in Dialect::PROVIDERS.into_iter().filter(|dialect| *dialect != own) {
        if let Some(names) = names_in(data, dialect, parts) {
            let why = format!("only {dialect} knows {names}; left out");
            let place = format!("{place}provider_data.{dialect}");
            // Clients of the others asked for the sequence themselves, and never hear which one it was.
            losses.push(match names.as_str() {
                STOP_SEQUENCE => Loss::info(LossCode::ForeignContent, "provider_data", place, why),
                _ => Loss::new(LossCode::ForeignContent, "provider_data", place, why),
            });
        }
    }
}

/// Returns a label of a request as the string that OpenAI's APIs require.
pub(super) fn label(name: &str, value: &Value, losses: &mut Vec<Loss>) -> Value {
    if value.is_string() {
        return value.clone();
    }
    let why = "labels are strings here; it is sent as JSON text";
    losses.push(Loss::info(LossCode::Changed, "metadata", format!("metadata.{name}"), why));
    value.to_string().into()
}

/// Notes what dialects other than `own` left on a block besides its state, which has a slot.
pub(super) fn note_block(data: &ProviderData, own: Dialect, index: usize, losses: &mut Vec<Loss>) {
    // Most blocks have nothing.
    if !data.is_empty() {
        note_foreign(data, own, &[Part::Extra, Part::Answer], &format!("content[{index}]."), losses);
    }
}

/// Notes what dialects other than `own` left on an answer.
pub(super) fn note_answer(data: &ProviderData, own: Dialect, losses: &mut Vec<Loss>) {
    let mut rest = Cow::Borrowed(data);
    // The tier that served the answer is written there, whoever names it.
    let tiers: &[Dialect] = match own {
        Dialect::OpenaiChat => &Dialect::ALL,
        Dialect::OpenaiResponses => &[Dialect::OpenaiChat],
        Dialect::Anthropic | Dialect::Gemini | Dialect::BedrockConverse => &[],
    };
    for dialect in tiers.iter().filter(|dialect| data.part(**dialect, Part::Answer).get(SERVICE_TIER).is_some()) {
        rest.to_mut().remove_part(*dialect, Part::Answer, SERVICE_TIER);
    }
    note_foreign(&rest, own, &[Part::State, Part::Extra, Part::Answer], "", losses);
}

/// Notes what dialects other than `own` left on the usage.
pub(super) fn note_usage(usage: Option<&Usage>, own: Dialect, losses: &mut Vec<Loss>) {
    if let Some(usage) = usage {
        note_foreign(&usage.provider_data, own, &[Part::Extra, Part::Answer], "usage.", losses);
    }
}

/// The losses for an answer that broke, on a wire that has only an error for it: everything that had arrived.
pub(super) fn lost_in_failure(response: &Response) -> Vec<Loss> {
    let lost = |what: &str, place: String, arrived: &str| {
        let why = format!("the answer broke, and an error has no room for {arrived}; left out");
        Loss::new(LossCode::NotInDialect, what, place, why)
    };
    let arrived = "what had arrived";
    let mut losses: Vec<Loss> = (0_usize..)
        .zip(&response.content)
        .map(|(index, block)| lost(block.kind().as_str(), format!("content[{index}]"), arrived))
        .collect();
    let is_there =
        [("id", response.id.is_some()), ("model", !response.model.is_empty()), ("usage", response.usage.is_some())];
    for (name, _) in is_there.into_iter().filter(|(_, is_there)| *is_there) {
        losses.push(lost(name, name.to_owned(), arrived));
    }
    for dialect in Dialect::PROVIDERS {
        if let Some(names) = names_in(&response.provider_data, dialect, &[Part::State, Part::Extra, Part::Answer]) {
            losses.push(lost("provider_data", format!("provider_data.{dialect}"), &names));
        }
    }
    losses
}

/// Notes what a failure says that its frame in a stream of `own` cannot: foreign fields, request id, numeric code.
fn note_failure(error: &Error, own: Dialect, losses: &mut Vec<Loss>) {
    note_foreign(&error.provider_data, own, &[Part::State, Part::Extra, Part::Answer], "error.", losses);
    if error.request_id.is_some() && own != Dialect::Anthropic {
        let why = "a failure in a stream of this API has no place for it; left out";
        losses.push(Loss::new(LossCode::NotInDialect, "request_id", "error.request_id", why));
    }
    let is_own = !error.provider_data.part(own, Part::Answer).is_empty();
    if let Some(code) = error.code.as_deref().filter(|code| is_own && is_number(code))
        && matches!(own, Dialect::OpenaiChat | Dialect::OpenaiResponses)
    {
        let why = format!("codes are strings in this API; `{code}` is left out");
        losses.push(Loss::new(LossCode::Changed, "code", "error.code", why));
    }
}

/// Notes what a stream of `own` cannot carry of an event. Returns whether that is the whole event, because only another
/// dialect has it.
#[inline]
pub(super) fn note_event(event: &Event, own: Dialect, losses: &mut Vec<Loss>) -> bool {
    match event {
        Event::Error { error } => note_failure(error, own, losses),
        Event::Other { index, dialect, data } if *dialect != own => {
            note_foreign_event(*index, *dialect, data, losses);
            return true;
        }
        _ => {}
    }
    false
}

/// Notes an event that only another dialect has. Consecutive identical losses are noted once.
fn note_foreign_event(index: Option<usize>, dialect: Dialect, data: &Json, losses: &mut Vec<Loss>) {
    let place = index.map_or_else(|| "events".to_owned(), |index| format!("content[{index}]"));
    let why = format!("only {dialect} knows {}; left out", name_of(data));
    let loss = Loss::new(LossCode::ForeignContent, "event", place, why);
    if losses.last() != Some(&loss) {
        losses.push(loss);
    }
}

/// The loss for a block that only another dialect has, named by its type, or else by its fields.
pub(super) fn block_loss(other: &Other, place: impl Into<String>) -> Loss {
    let why = format!("a block that only {} has ({}); left out", other.dialect, name_of(&other.data));
    Loss::new(LossCode::ForeignContent, "other", place, why)
}

/// The name of a dialect's own block or event: its type, or else the names of its fields.
pub(super) fn name_of(data: &Json) -> String {
    let fields: Fields = data.to().unwrap_or_default();
    match fields.str("type") {
        Some(kind) => kind.into_owned(),
        None => fields.names().collect::<Vec<_>>().join(", "),
    }
}

/// The names of the fields in some parts that carry information; `None` if there are none.
fn names_in(data: &ProviderData, dialect: Dialect, parts: &[Part]) -> Option<String> {
    let mut names: Vec<&str> = parts.iter().flat_map(|part| said(data.part(dialect, *part))).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The names of the fields that carry information.
fn said(fields: &Fields) -> impl Iterator<Item = &str> {
    fields.iter().filter(|(name, value)| !is_empty(value) && !is_translated(name, value)).map(|(name, _)| name)
}

/// Reasons for the end of an answer that say no more than the canonical reason they are translated to.
const PLAIN_ENDS: [&str; 7] = ["end_turn", "max_tokens", "tool_use", "refusal", STOP_SEQUENCE, "STOP", "MAX_TOKENS"];

/// The counts of provider-run tools that the usage has under other names.
const COUNTED: [&str; 5] =
    ["web_search_requests", "web_fetch_requests", "num_requests", "tool_calls_requested", "tool_calls_executed"];

/// Whether all counts are among those, or zero.
fn is_counted(counts: &serde_json::Value) -> bool {
    counts.as_object().is_some_and(|counts| {
        let is_known = |(name, count): (&String, &serde_json::Value)| {
            count.as_u64() == Some(0) || COUNTED.contains(&name.as_str()) || is_counted(count)
        };
        counts.iter().all(is_known)
    })
}

/// Whether an annotation says no more than citations can say in any dialect. A quote of the source is more.
fn is_plain_citation(annotation: &serde_json::Value) -> bool {
    let fields = annotation["url_citation"].as_object().filter(|_| annotation["type"] == "url_citation");
    let known = ["url", "title", "start_index", "end_index"];
    fields.is_some_and(|fields| fields.keys().all(|name| known.contains(&name.as_str())))
}

/// Whether every other dialect has an equivalent of this field, or it is only our note of where fields were.
fn is_translated(name: &str, value: &Json) -> bool {
    match name {
        "stop_reason" | "stopReason" | "finish_reason" => {
            value.as_str().is_some_and(|word| PLAIN_ENDS.contains(&word.as_ref()))
        }
        "server_tool_use" | "server_tool_use_details" | "tool_usage" => is_counted(value.value()),
        "message.annotations" => value.value().as_array().is_some_and(|all| all.iter().all(is_plain_citation)),
        "index" => value.text() == "0",
        "candidate" => value.text().starts_with('['),
        _ => false,
    }
}

fn is_empty(value: &Json) -> bool {
    matches!(value.text(), "null" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_stop_sequence_that_fired_is_no_error_for_strict_clients() {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Anthropic, Part::Answer, "stop_reason", "stop_sequence");
        data.set_part(Dialect::Anthropic, Part::Answer, "stop_sequence", "END");
        let mut losses = Vec::new();
        note_answer(&data, Dialect::OpenaiChat, &mut losses);
        let why = "only anthropic knows stop_sequence; left out";
        let place = "provider_data.anthropic";
        assert_eq!(losses, [Loss::info(LossCode::ForeignContent, "provider_data", place, why)]);
    }

    #[test]
    fn fields_of_other_dialects_are_named_and_empty_ones_are_not() {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Gemini, Part::Answer, "avgLogprobs", Json::of(&-0.5).unwrap());
        data.set_part(Dialect::Gemini, Part::Extra, "thought", true);
        data.set_part(Dialect::Gemini, Part::Extra, "labels", Json::parse("[]").unwrap());
        data.set_part(Dialect::Gemini, Part::Shape, "snake", true);
        data.set_part(Dialect::Anthropic, Part::Extra, "citations", Json::parse("[1]").unwrap());
        data.set_part(Dialect::OpenaiChat, Part::Answer, "logprobs", Json::null());
        data.set_part(Dialect::Gemini, Part::Answer, "finish_reason", "STOP");
        data.set_part(Dialect::BedrockConverse, Part::Answer, "stopReason", "end_turn");
        let mut losses = Vec::new();
        note_foreign(&data, Dialect::Anthropic, &[Part::Extra, Part::Answer], "content[2].", &mut losses);
        let expected = Loss::new(
            LossCode::ForeignContent,
            "provider_data",
            "content[2].provider_data.gemini",
            "only gemini knows thought, avgLogprobs; left out",
        );
        assert_eq!(losses, [expected]);
    }

    #[test]
    fn what_a_provider_wants_back_with_an_answer_is_told_and_the_tier_is_not_where_it_is_written() {
        let mut data = ProviderData::default();
        data.set_part(Dialect::OpenaiChat, Part::State, "extra_content", "s");
        data.set_part(Dialect::OpenaiChat, Part::Answer, "service_tier", "flex");
        data.set_part(Dialect::Anthropic, Part::Answer, "service_tier", "priority");
        let told = |own| {
            let mut losses = Vec::new();
            note_answer(&data, own, &mut losses);
            losses.into_iter().map(|loss| loss.why).collect::<Vec<_>>()
        };
        let tier = "only anthropic knows service_tier; left out";
        assert_eq!(told(Dialect::OpenaiChat), [""; 0]);
        assert_eq!(told(Dialect::OpenaiResponses), [tier, "only openai-chat knows extra_content; left out"]);
        assert_eq!(told(Dialect::Anthropic), ["only openai-chat knows extra_content, service_tier; left out"]);
        assert_eq!(told(Dialect::Gemini), [tier, "only openai-chat knows extra_content, service_tier; left out"]);
    }

    #[test]
    fn an_answer_that_broke_is_lost_with_all_that_had_arrived() {
        let mut response = Response {
            id: Some("r".into()),
            model: "m".into(),
            content: vec![Block::text("Half"), Block::thinking("Hm")],
            usage: Some(crate::Usage::default()),
            ..Response::default()
        };
        response.provider_data.set_part(Dialect::Gemini, Part::Answer, "finishMessage", "no such tool");
        let told: Vec<String> = lost_in_failure(&response).iter().map(ToString::to_string).collect();
        let lost = |what: &str, place: &str, arrived: &str| {
            format!("{what} at {place}: the answer broke, and an error has no room for {arrived}; left out")
        };
        let arrived = "what had arrived";
        assert_eq!(
            told,
            [
                lost("text", "content[0]", arrived),
                lost("thinking", "content[1]", arrived),
                lost("id", "id", arrived),
                lost("model", "model", arrived),
                lost("usage", "usage", arrived),
                lost("provider_data", "provider_data.gemini", "finishMessage"),
            ]
        );
    }

    #[test]
    fn what_a_failure_says_in_words_of_another_dialect_is_told() {
        let mut error = Error::new(crate::ErrorKind::Server, "down");
        (error.code, error.request_id) = (Some("502".into()), Some("req_1".into()));
        error.provider_data.set_part(
            Dialect::OpenaiChat,
            Part::Answer,
            "error",
            Json::parse(r#"{"code":502}"#).unwrap(),
        );
        let told = |own| {
            let mut losses = Vec::new();
            note_failure(&error, own, &mut losses);
            losses.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let foreign = "provider_data at error.provider_data.openai-chat: only openai-chat knows error; left out";
        let number = "request_id at error.request_id: a failure in a stream of this API has no place for it; left out";
        let code = "code at error.code: codes are strings in this API; `502` is left out";
        assert_eq!(told(Dialect::Anthropic), [foreign]);
        assert_eq!(told(Dialect::Gemini), [foreign, number]);
        assert_eq!(told(Dialect::OpenaiChat), [number, code]);
    }
}
