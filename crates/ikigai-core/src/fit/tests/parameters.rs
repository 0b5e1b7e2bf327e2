//! Single parameters.

use pretty_assertions::assert_eq;

use super::*;
use crate::provider::SeedField;
use crate::{CacheHint, CacheOptions, Level, Thinking};

fn asked() -> Request {
    Request::new("some-model").user("Hello")
}

#[test]
fn output_limits_are_brought_into_range() {
    let limit = |model: &str, asked: Option<i64>, dialect| {
        let request = Request { max_output_tokens: asked, ..Request::new(model).user("Hello") };
        with(&request, dialect, &Quirks::NONE, |fitted| (fitted.max_output_tokens, all(fitted)))
    };
    let out = || vec!["OutOfRange max_output_tokens".to_owned()];
    let most = i64::from(i32::MAX);
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini] {
        assert_eq!(limit("some-model", None, dialect), (None, vec![]));
        assert_eq!(limit("some-model", Some(-1), dialect), (None, vec![]), "the provider's default");
        assert_eq!(limit("some-model", Some(0), dialect), (None, out()));
        assert_eq!(limit("some-model", Some(-2), dialect), (None, out()));
        assert_eq!(limit("some-model", Some(100), dialect), (Some(100), vec![]));
        assert_eq!(limit("some-model", Some(1 << 31), dialect), (Some(most), out()));
        assert_eq!(limit("some-model", Some(i64::MAX), dialect), (Some(most), out()));
    }
    assert_eq!(limit("some-model", Some(15), Dialect::OpenaiResponses), (Some(16), out()));
    assert_eq!(limit("some-model", Some(15), Dialect::OpenaiChat), (Some(15), vec![]));
    // A limit is required here, so a default is chosen.
    for (asked, losses) in [(None, vec![]), (Some(-1), vec![]), (Some(0), out()), (Some(-7), out())] {
        assert_eq!(limit("some-model", asked, Dialect::Anthropic), (Some(8192), losses.clone()));
        assert_eq!(limit("claude-sonnet-4-5", asked, Dialect::Anthropic), (Some(21_333), losses));
    }
    assert_eq!(limit("claude-sonnet-4-5", Some(1 << 40), Dialect::Anthropic), (Some(64_000), out()));
}

#[test]
fn temperatures_end_where_the_dialect_ends() {
    let request = Request { temperature: Some(1.5), ..asked() };
    for dialect in Dialect::ALL {
        let sent = with(&request, dialect, &Quirks::NONE, |fitted| (fitted.temperature, all(fitted)));
        let greatest = dialect.abilities().greatest_temperature;
        let lost = (greatest < 1.5).then(|| "OutOfRange temperature".to_owned());
        assert_eq!(sent, (Some(greatest.min(1.5)), lost.into_iter().collect()), "{dialect}");
    }
}

#[test]
fn a_top_p_near_one_stands_beside_thinking_where_the_api_takes_it() {
    let mut request = Request::new("claude-sonnet-4-5").user("Hello").thinking(Level::Low).max_output_tokens(100);
    request.top_p = Some(0.97);
    let sent = |dialect| with(&request, dialect, &Quirks::NONE, |fitted| fitted.top_p);
    assert_eq!((sent(Dialect::Anthropic), sent(Dialect::OpenaiChat)), (Some(0.97), None));
    let lost = vec![(Severity::Loss, LossCode::Conflict, "top_p".to_owned())];
    assert_eq!(losses(&request, Dialect::OpenaiChat, "top_p"), lost);
}

#[test]
fn stop_texts_are_counted_and_blank_ones_refused() {
    let stop = |texts: &[&str], dialect| {
        let request = Request { stop: texts.iter().map(|text| (*text).to_owned()).collect(), ..asked() };
        with(&request, dialect, &Quirks::NONE, |fitted| (fitted.stop.join("|"), all(fitted)))
    };
    let six = ["1", "2", "3", "4", "5", "6"];
    assert_eq!(stop(&six, Dialect::OpenaiChat), ("1|2|3|4".into(), vec!["OutOfRange stop".into()]));
    assert_eq!(stop(&six, Dialect::Gemini), ("1|2|3|4|5".into(), vec!["OutOfRange stop".into()]));
    assert_eq!(stop(&six, Dialect::Anthropic), (six.join("|"), vec![]));
    assert_eq!(stop(&six, Dialect::OpenaiResponses), (String::new(), vec!["NotInDialect stop".into()]));
    assert_eq!(stop(&["\n", "a"], Dialect::Anthropic), ("a".into(), vec!["NotInDialect stop".into()]));
    assert_eq!(stop(&["\n", "a"], Dialect::OpenaiChat), ("\n|a".into(), vec![]));
}

#[test]
fn seeds_have_a_size_and_some_providers_have_none() {
    let seed = |seed: i64, dialect, field| {
        let request = Request { seed: Some(seed), ..asked() };
        let quirks = Quirks { chat: crate::provider::ChatQuirks { seed: field, ..Default::default() }, ..Quirks::NONE };
        with(&request, dialect, &quirks, |fitted| (fitted.seed, all(fitted)))
    };
    assert_eq!(seed(1 << 40, Dialect::OpenaiChat, SeedField::Seed), (Some(1 << 40), vec![]));
    assert_eq!(seed(1 << 40, Dialect::Gemini, SeedField::Seed), (None, vec!["OutOfRange seed".into()]));
    assert_eq!(seed(-5, Dialect::Gemini, SeedField::Seed), (Some(-5), vec![]));
    assert_eq!(seed(1, Dialect::OpenaiChat, SeedField::Nothing), (None, vec!["RefusedByProvider seed".into()]));
    assert_eq!(seed(1, Dialect::Anthropic, SeedField::Seed), (None, vec!["NotInDialect seed".into()]));
}

#[test]
fn a_cache_key_is_measured_in_characters_and_shortened() {
    let key = |key: &str, dialect| {
        let cache = CacheOptions { key: Some(key.to_owned()), automatic: None };
        let request = Request { cache: Some(cache), ..asked() };
        with(&request, dialect, &Quirks::NONE, |fitted| (fitted.cache_key.as_deref().map(str::to_owned), all(fitted)))
    };
    let umlauts = "\u{fc}".repeat(64);
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        assert_eq!(key(&umlauts, dialect), (Some(umlauts.clone()), vec![]));
        let (short, losses) = key(&format!("{umlauts}x"), dialect);
        let short = short.unwrap();
        assert_eq!((short.chars().count(), losses), (64, vec!["info Changed cache.key".into()]));
        assert_ne!(short, key(&format!("{umlauts}y"), dialect).0.unwrap());
    }
    for dialect in [Dialect::Anthropic, Dialect::Gemini] {
        assert_eq!(key("k", dialect), (None, vec!["info NotInDialect cache.key".into()]));
    }
}

#[test]
fn cache_marks_go_where_they_are_taken_and_the_newest_win() {
    let hint = |ttl: Option<&str>| Some(CacheHint { ttl: ttl.map(str::to_owned) });
    let text = |ttl| Block::Text(crate::Text { text: "t".into(), cache: hint(ttl), ..Default::default() });
    let mut request = Request::new("some-model");
    request.system = vec![text(Some("1h")), text(None)];
    request.messages = vec![Message::user([text(None), text(None), text(Some("1h")), text(None)])];
    let Tool::Function(mut function) = Tool::new("f", "") else { unreachable!() };
    function.cache = hint(None);
    request.tools = vec![Tool::Function(function)];
    let marked = |dialect| {
        with(&request, dialect, &Quirks::NONE, |fitted| match &fitted.marks {
            Marks::Chosen(marks) => marks.iter().map(|(place, hint)| format!("{place} {:?}", hint.ttl)).collect(),
            Marks::AsAsked => vec!["as asked".to_owned()],
        })
    };
    assert_eq!(
        marked(Dialect::Anthropic),
        ["tools[0] None", "system[1] None", "messages[0].content[2] None", "messages[0].content[3] None"]
    );
    let left = |dialect| losses(&request, dialect, "cache");
    assert_eq!(
        left(Dialect::Anthropic),
        ["system[0]", "messages[0].content[0]", "messages[0].content[1]", "messages[0].content[2].ttl"].map(|place| (
            Severity::Loss,
            LossCode::OutOfRange,
            place.to_owned()
        ))
    );
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini] {
        assert_eq!(marked(dialect), Vec::<String>::new());
        let infos =
            ["tools", "system", "messages"].map(|place| (Severity::Info, LossCode::NotInDialect, place.to_owned()));
        assert_eq!(left(dialect), infos);
    }
}

#[test]
fn a_budget_is_fitted_into_the_output_limit() {
    let sent = |model: &str, thinking: Thinking, limit: Option<i64>, dialect| {
        let request =
            Request { thinking: Some(thinking), max_output_tokens: limit, ..Request::new(model).user("Hello") };
        with(&request, dialect, &Quirks::NONE, |fitted| (fitted.thinking.setting, fitted.max_output_tokens))
    };
    let budget = ThinkingSetting::Budget;
    let med = || Thinking::from(Level::Med);
    assert_eq!(sent("claude-sonnet-4-5", med(), Some(4096), Dialect::Anthropic), (budget(43_008), Some(47_104)));
    assert_eq!(
        sent("claude-sonnet-4-5", Level::High.into(), Some(4096), Dialect::Anthropic),
        (budget(59_904), Some(64_000))
    );
    assert_eq!(sent("claude-opus-4-1", med(), Some(4096), Dialect::Anthropic), (budget(27_904), Some(32_000)));
    assert_eq!(sent("gemini-2.5-pro", med(), Some(1000), Dialect::Gemini), (budget(21_888), Some(22_888)));
    assert_eq!(sent("gemini-2.5-pro", med(), None, Dialect::Gemini), (budget(21_888), None));
    assert_eq!(
        sent("claude-sonnet-4-5", Thinking::budget(2000), Some(3000), Dialect::Anthropic),
        (budget(2000), Some(3000))
    );
}

#[test]
fn foreign_fields_are_named_once_for_each_place() {
    let mut request = Request::new("some-model").user("Hello").user("There");
    request.provider_data.set_part(Dialect::Gemini, Part::Extra, "safetySettings", serde_json::json!([{}]));
    request.provider_data.set_part(Dialect::Gemini, Part::Extra, "labels", serde_json::json!({}));
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "logit_bias", serde_json::json!({"50256": -100}));
    request.messages[1].provider_data.set_part(Dialect::Gemini, Part::Extra, "x", true);
    request.messages[1].provider_data.set_part(Dialect::Gemini, Part::Shape, "role", true);
    let whys = |dialect| {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            let about = fitted.losses.iter().filter(|loss| loss.code == LossCode::ForeignContent);
            about.map(|loss| format!("{}: {}", loss.place, loss.why)).collect::<Vec<_>>()
        })
    };
    assert_eq!(
        whys(Dialect::Anthropic),
        [
            "messages[1]: only gemini knows x; left out",
            "provider_data: only gemini knows safetySettings, labels; only openai-chat knows logit_bias; left out",
        ]
    );
    assert_eq!(whys(Dialect::Gemini), ["provider_data: only openai-chat knows logit_bias; left out"]);
}

/// Fields that clients send although they have no effect: LangChain and the OpenAI Agents SDK (empty lists), LiteLLM
/// (`n`), Anthropic's SDKs (`is_error`, `eager_input_streaming`).
#[test]
fn fields_that_say_nothing_are_no_loss() {
    let mut request = Request::new("some-model").user("Hello");
    let empty = serde_json::json!([]);
    for (dialect, name, value) in [
        (Dialect::OpenaiChat, "tools", empty.clone()),
        (Dialect::OpenaiChat, "stop", empty.clone()),
        (Dialect::OpenaiChat, "n", 1.into()),
        (Dialect::OpenaiChat, "logit_bias", serde_json::json!({})),
        (Dialect::OpenaiChat, "cache_control", serde_json::json!({"type": "ephemeral"})),
        (Dialect::OpenaiChat, "image_url.detail", "auto".into()),
        (Dialect::OpenaiResponses, "include", empty),
        (Dialect::OpenaiResponses, "truncation", "disabled".into()),
        (Dialect::Anthropic, "is_error", false.into()),
        (Dialect::Anthropic, "eager_input_streaming", true.into()),
    ] {
        request.provider_data.set_part(dialect, Part::Extra, name, value);
    }
    let severities = |request: &Request| {
        with(request, Dialect::Gemini, &Quirks::NONE, |fitted| {
            let about = fitted.losses.iter().filter(|loss| loss.code == LossCode::ForeignContent);
            about.map(|loss| loss.severity).collect::<Vec<_>>()
        })
    };
    assert_eq!(severities(&request), [Severity::Info]);
    request.provider_data.set_part(Dialect::Anthropic, Part::Extra, "is_error", true);
    assert_eq!(severities(&request), [Severity::Loss, Severity::Info]);
}

#[test]
fn fields_that_nobody_misses_are_no_loss() {
    let mut request = Request::new("some-model").user("Hello");
    for (name, value) in [
        ("stream_options", serde_json::json!({"include_usage": true})),
        ("store", false.into()),
        ("parsed", serde_json::json!({"a": 1})),
        ("n", 2.into()),
    ] {
        request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, name, value);
    }
    request.provider_data.set_part(Dialect::OpenaiResponses, Part::Extra, "store", true);
    let whys = with(&request, Dialect::Anthropic, &Quirks::NONE, |fitted| {
        let about = fitted.losses.iter().filter(|loss| loss.code == LossCode::ForeignContent);
        about.map(|loss| (loss.severity, loss.why.clone())).collect::<Vec<_>>()
    });
    assert_eq!(
        whys,
        [
            (Severity::Loss, "only openai-chat knows n; only openai-responses knows store; left out".to_owned()),
            (
                Severity::Info,
                "only openai-chat knows stream_options, store, parsed; left out, which changes nothing".to_owned()
            ),
        ]
    );
}

#[test]
fn what_both_of_openais_apis_know_goes_from_one_to_the_other() {
    let chat = serde_json::json!({
        "model": "gpt-5.1", "verbosity": "low", "service_tier": "flex", "safety_identifier": "u-1", "logit_bias": {"5": 1},
        "messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "https://example.org/cat.webp", "detail": "high"}}
        ]}]
    });
    let body = serde_json::to_vec(&chat).unwrap();
    let incoming = crate::wire::Incoming::new(&body);
    let (request, _) = Dialect::OpenaiChat.decode_request(incoming, &LIMITS).unwrap();
    let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for("gpt-5.1"), facts: None };
    let sent = Dialect::OpenaiResponses.encode_request(&request, &target, &LIMITS).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(
        (&json["text"], &json["service_tier"], &json["safety_identifier"], &json["verbosity"]),
        (&serde_json::json!({"verbosity": "low"}), &"flex".into(), &"u-1".into(), &serde_json::Value::Null)
    );
    assert_eq!(json["input"][0]["content"][0]["detail"], "high");
    let said: Vec<&str> = sent.losses.iter().map(|loss| loss.why.as_str()).collect();
    assert_eq!(said, ["only openai-chat knows logit_bias; left out"]);
    // An existing field stays, and the other is a loss.
    let mut both = request.clone();
    both.provider_data.set_part(Dialect::OpenaiResponses, Part::Extra, "service_tier", "default");
    let sent = Dialect::OpenaiResponses.encode_request(&both, &target, &LIMITS).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(json["service_tier"], "default");
    assert_eq!(sent.losses[0].why, "only openai-chat knows service_tier, logit_bias; left out");
}

#[test]
fn how_closely_a_picture_is_looked_at_goes_to_chat_if_chat_has_the_word() {
    for (word, expected) in [("high", Some("high")), ("original", None)] {
        let responses = serde_json::json!({"model": "gpt-5.1", "input": [{"role": "user", "content": [
            {"type": "input_image", "image_url": "https://example.org/cat.webp", "detail": word}
        ]}]});
        let body = serde_json::to_vec(&responses).unwrap();
        let incoming = crate::wire::Incoming::new(&body);
        let (request, _) = Dialect::OpenaiResponses.decode_request(incoming, &LIMITS).unwrap();
        let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for("gpt-5.1"), facts: None };
        let sent = Dialect::OpenaiChat.encode_request(&request, &target, &LIMITS).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(json["messages"][0]["content"][0]["image_url"]["detail"].as_str(), expected);
        let losses: Vec<&str> = sent.losses.iter().map(|loss| loss.why.as_str()).collect();
        let lost = vec!["only openai-responses knows detail; left out"];
        assert_eq!(losses, if expected.is_some() { Vec::new() } else { lost });
    }
}

#[test]
fn the_name_on_a_tool_message_is_that_of_its_call_and_nobody_misses_it() {
    let chat = serde_json::json!({"model": "gpt-5.1", "messages": [
        {"role": "user", "name": "ann", "content": "Weather?"},
        {"role": "assistant", "content": null, "tool_calls":
            [{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "name": "weather", "content": "18 °C"}
    ]});
    let body = serde_json::to_vec(&chat).unwrap();
    let (request, _) = Dialect::OpenaiChat.decode_request(crate::wire::Incoming::new(&body), &LIMITS).unwrap();
    with(&request, Dialect::Anthropic, &Quirks::NONE, |fitted| {
        let about: Vec<String> = all(fitted).into_iter().filter(|loss| loss.contains("messages")).collect();
        assert_eq!(about, ["ForeignContent messages[0]", "info ForeignContent messages[2].content[0]"]);
    });
}
