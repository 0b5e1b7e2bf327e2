//! Model by parameter: what is sent, and what is lost. One row applies to every dialect that can express it.

use pretty_assertions::assert_eq;

use super::*;
use crate::Level;

/// Returns a request with everything at once, with and without thinking.
fn asked(model: &str, thinking: Option<Level>) -> Request {
    let mut request = Request::new(model).user("Hello");
    request.temperature = Some(0.5);
    request.top_p = Some(0.9);
    request.top_k = Some(40);
    request.frequency_penalty = Some(0.1);
    request.presence_penalty = Some(0.0);
    request.stop = vec!["END".into()];
    request.thinking = thinking.map(Into::into);
    request
}

/// Returns `temperature top_p top_k frequency presence stop`: the value's name if it is sent, `-` for a loss, `~` for
/// an info that it costs nothing, `!` if it is sent with a warning, `.` if the dialect has no such parameter.
fn row(model: &str, thinking: Option<Level>, dialect: Dialect) -> String {
    let request = asked(model, thinking);
    with(&request, dialect, &Quirks::NONE, |fitted| {
        let mark = |name: &str, sent: bool| {
            let about = fitted.losses.iter().find(|loss| loss.what == name);
            match about.map(|loss| (loss.code, loss.severity)) {
                Some((LossCode::NotInDialect, _)) => ".".to_owned(),
                Some((LossCode::Discouraged, _)) if sent => format!("{name}!"),
                Some((_, Severity::Info)) if !sent => "~".to_owned(),
                Some((_, Severity::Loss)) if !sent => "-".to_owned(),
                None if sent => name.to_owned(),
                other => format!("{name}? {other:?}"),
            }
        };
        let marks = [
            mark("temperature", fitted.temperature.is_some()),
            mark("top_p", fitted.top_p.is_some()),
            mark("top_k", fitted.top_k.is_some()),
            mark("frequency_penalty", fitted.frequency_penalty.is_some()),
            mark("presence_penalty", fitted.presence_penalty.is_some()),
            mark("stop", !fitted.stop.is_empty()),
        ];
        marks.join(" ")
    })
}

const ALL: &str = "temperature top_p top_k frequency_penalty presence_penalty stop";
const NONE: &str = "- - - - ~ stop";

#[test]
fn every_model_gets_the_parameters_that_it_takes() {
    for (model, thinking, expected) in [
        ("some-model", None, ALL),
        ("gpt-4o", None, ALL),
        ("claude-3-5-haiku", None, ALL),
        // Either temperature or top_p.
        ("claude-sonnet-4-5", None, "temperature - top_k frequency_penalty presence_penalty stop"),
        ("claude-sonnet-4-5", Some(Level::Low), NONE),
        // Not while it thinks.
        ("claude-sonnet-4-0", None, ALL),
        ("claude-sonnet-4-0", Some(Level::Low), NONE),
        ("claude-opus-4-8", None, NONE),
        // Reasoning models, and those that can turn it off.
        ("o3", None, "- - - - ~ -"),
        ("gpt-5.1", None, "temperature top_p top_k frequency_penalty presence_penalty -"),
        ("gpt-5.1", Some(Level::Low), "- - - - ~ -"),
        ("gemini-2.5-pro", Some(Level::Low), ALL),
        ("gemini-3-pro", None, "temperature! top_p! top_k! frequency_penalty! presence_penalty stop"),
        ("gemini-3.6-flash", None, "temperature! top_p! top_k! frequency_penalty! presence_penalty! stop"),
    ] {
        for dialect in Dialect::ALL {
            let can_say = |word: &str| match word.trim_end_matches('!') {
                "top_k" => dialect.abilities().top_k == super::TopK::Taken,
                "frequency_penalty" | "presence_penalty" => dialect.abilities().penalties.is_taken(),
                "stop" => dialect.abilities().stop.most > 0,
                _ => true,
            };
            let names = ALL.split(' ');
            let here: Vec<&str> =
                expected.split(' ').zip(names).map(|(mark, name)| if can_say(name) { mark } else { "." }).collect();
            assert_eq!(row(model, thinking, dialect), here.join(" "), "{model} {thinking:?} in {dialect}");
        }
    }
}

/// The facts about each dialect on which the tests of single rules depend: the maximum temperature, blanks at the end
/// of a prefill, thinking that goes back as text, strict tools, JSON without a schema.
#[test]
fn what_each_dialect_can_express() {
    for dialect in Dialect::PROVIDERS {
        let abilities = dialect.abilities();
        let found = (
            abilities.greatest_temperature,
            abilities.prefill.trailing_blanks.is_taken(),
            abilities.thinking_back == ThinkingBack::Text,
            matches!(abilities.strict_tools, StrictTools::Flag { .. }),
            abilities.json_mode,
        );
        let expected = match dialect {
            Dialect::Anthropic => (1.0, false, false, true, JsonMode::Missing),
            Dialect::OpenaiChat => (2.0, true, true, true, JsonMode::NeedsTheWord),
            Dialect::OpenaiResponses => (2.0, true, false, true, JsonMode::NeedsTheWord),
            Dialect::Gemini => (2.0, true, false, false, JsonMode::Taken),
            Dialect::BedrockConverse => (1.0, false, false, true, JsonMode::Missing),
        };
        assert_eq!(found, expected, "{dialect}");
    }
}
