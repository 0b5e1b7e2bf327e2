//! The system prompt, the messages, and their state.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::provider::{ReasoningField, ReplayReasoning};
use crate::{Level, Other, Text, ThinkingBlock, ToolCall, ToolResult};

/// Returns a summary of the conversation: roles and texts.
fn said(fitted: &Fitted<'_>) -> Vec<String> {
    let text = |block: &FittedBlock<'_>| match block.block.as_ref() {
        Block::Text(text) => text.text.clone(),
        other => format!("<{}>", other.kind()),
    };
    let line = |role: &str, content: &[FittedBlock<'_>]| {
        format!("{role}: {}", content.iter().map(text).collect::<Vec<_>>().join(" | "))
    };
    let system = (!fitted.system.is_empty()).then(|| line("prompt", &fitted.system));
    let messages = fitted.messages.iter().map(|message| line(message.role.as_str(), &message.content));
    system.into_iter().chain(messages).collect()
}

fn sealed(dialect: Dialect, name: &str) -> ProviderDataOf {
    let mut data = crate::ProviderData::default();
    data.set_part(dialect, Part::State, name, "c2VhbGVk");
    data
}

type ProviderDataOf = crate::ProviderData;

fn thought(dialect: Dialect, name: &str) -> Block {
    Block::Thinking(ThinkingBlock { text: "Hm.".into(), provider_data: sealed(dialect, name) })
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall { id: id.into(), name: "f".into(), ..ToolCall::default() })
}

fn result(id: &str) -> Message {
    let result = ToolResult { tool_call_id: id.into(), content: vec![Block::text("r")], ..ToolResult::default() };
    Message::new(Role::Tool, Block::ToolResult(result))
}

fn by(mut message: Message, provider: &str, model: &str) -> Message {
    message.provider = Some(provider.into());
    message.model = Some(model.into());
    message
}

#[test]
fn a_system_prompt_that_a_model_does_not_take_stands_before_the_users_words() {
    let request = Request::new("o1-mini").system("Be brief.").user("Hello");
    for dialect in Dialect::ALL {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            assert_eq!(said(fitted), ["user: Be brief. | Hello"]);
            assert_eq!(all(fitted), ["RefusedByModel system"], "{dialect}");
        });
    }
}

#[test]
fn system_messages_go_where_they_are_taken() {
    let request = Request::new("some-model")
        .message(Message::system("First."))
        .user("Hello")
        .message(Message::system("Then."))
        .message(Message::assistant("Hi"))
        .message(Message::system("Last."))
        .user("Go");
    let reminder = |text: &str| format!("user: <system-reminder>\n{text}\n</system-reminder>");
    let told = |dialect| with(&request, dialect, &Quirks::NONE, |fitted| (said(fitted), all(fitted)));
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let lines = ["system: First.", "user: Hello", "system: Then.", "assistant: Hi", "system: Last.", "user: Go"];
        assert_eq!(told(dialect), (lines.map(str::to_owned).to_vec(), vec![]));
    }
    let (lines, losses) = told(Dialect::Anthropic);
    assert_eq!(lines[..4], ["prompt: First.", "user: Hello", "system: Then.", "assistant: Hi"]);
    assert_eq!(
        (lines[4..].to_vec(), losses),
        (vec![reminder("Last."), "user: Go".into()], vec!["NotInDialect messages[4]".into()])
    );
    let (lines, losses) = told(Dialect::Gemini);
    assert_eq!((&lines[2], &lines[4]), (&reminder("Then."), &reminder("Last.")));
    assert_eq!(losses, ["NotInDialect messages[2]", "NotInDialect messages[4]"]);
    // A model that accepts none, in all dialects.
    let request = Request { model: "claude-sonnet-4-5".into(), ..request };
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            assert_eq!(said(fitted)[0], "prompt: First.");
            assert_eq!(all(fitted), ["RefusedByModel messages[2]", "RefusedByModel messages[4]"], "{dialect}");
        });
    }
}

#[test]
fn a_model_that_takes_no_prefill_is_asked_to_continue() {
    let prefilled = |model: &str| Request::new(model).user("Hello").message(Message::assistant("So, "));
    for dialect in Dialect::ALL {
        with(&prefilled("claude-opus-4-8"), dialect, &Quirks::NONE, |fitted| {
            assert_eq!(said(fitted), ["user: Hello", "assistant: So, ", "user: Continue."]);
            assert_eq!(all(fitted), ["RefusedByModel messages[1]"], "{dialect}");
        });
        let taken = dialect.abilities().prefill.trailing_blanks.is_taken();
        let expected = if taken { ("assistant: So, ", 0) } else { ("assistant: So,", 1) };
        with(&prefilled("claude-sonnet-4-5"), dialect, &Quirks::NONE, |fitted| {
            assert_eq!((&said(fitted)[1][..], all(fitted).len()), expected, "{dialect}");
        });
    }
    let thinking = Request { thinking: Some(Level::Low.into()), ..prefilled("claude-sonnet-4-5") };
    with(&thinking, Dialect::Anthropic, &Quirks::NONE, |fitted| {
        assert!(!fitted.thinking.thinks);
        assert_eq!(all(fitted), ["info Changed messages[1]", "Conflict thinking"]);
    });
}

#[test]
fn the_user_begins_where_that_is_asked_for() {
    let request = Request::new("some-model").message(Message::assistant("Hi")).user("Hello");
    for dialect in Dialect::ALL {
        with(&request, dialect, &Quirks::NONE, |fitted| match dialect {
            Dialect::Anthropic | Dialect::Gemini => {
                assert_eq!(said(fitted)[0], "user: (begin)");
                assert_eq!(all(fitted), ["info Changed messages[0]"]);
            }
            _ => assert_eq!((said(fitted).len(), all(fitted)), (2, vec![])),
        });
    }
    // So it does if nothing can be sent of what was said.
    let foreign = Other { dialect: Dialect::BedrockConverse, data: json!({"x": 1}).into() };
    let request = Request::new("some-model").message(Message::assistant([Block::Other(foreign)]));
    with(&request, Dialect::Anthropic, &Quirks::NONE, |fitted| assert_eq!(said(fitted), ["user: (begin)"]));
}

#[test]
fn state_goes_back_to_who_issued_it_and_to_nobody_else() {
    for (dialect, name) in [
        (Dialect::Anthropic, "signature"),
        (Dialect::OpenaiResponses, "encrypted_content"),
        (Dialect::Gemini, "thought_signature"),
    ] {
        let asked = |message: Message| Request::new("claude-sonnet-4-5").user("Hello").message(message).user("And?");
        let message = || Message::assistant([thought(dialect, name), Block::text("So.")]);
        let goes = |request: &Request, dialect| {
            with(request, dialect, &Quirks::NONE, |fitted| (fitted.messages[1].content.len() == 2, all(fitted)))
        };
        let lost = || (false, vec!["ForeignState messages[1].content[0]".to_owned()]);
        // From the issuer, from a dated id of the same model, and without a known issuer.
        for own in
            [by(message(), "p", "claude-sonnet-4-5"), by(message(), "p", "claude-sonnet-4-5-20250929"), message()]
        {
            assert_eq!(goes(&asked(own), dialect), (true, vec![]), "{dialect}");
        }
        assert_eq!(goes(&asked(by(message(), "q", "claude-sonnet-4-5")), dialect), lost());
        assert_eq!(goes(&asked(by(message(), "p", "claude-opus-4-5")), dialect), lost());
        for other in Dialect::ALL.into_iter().filter(|other| *other != dialect) {
            assert_eq!(goes(&asked(message()), other), lost(), "{dialect} to {other}");
        }
    }
}

#[test]
fn a_call_stays_without_the_state_of_another() {
    let signed = Block::ToolCall(ToolCall {
        id: "c1".into(),
        name: "f".into(),
        provider_data: sealed(Dialect::Gemini, "thought_signature"),
        ..ToolCall::default()
    });
    let request = Request::new("some-model").user("Hello").message(Message::assistant(signed)).message(result("c1"));
    for dialect in Dialect::ALL {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            let expected =
                if dialect == Dialect::Gemini { vec![] } else { vec!["ForeignState messages[1].content[0]"] };
            assert_eq!(
                (fitted.messages[1].content.len(), all(fitted)),
                (1, expected.iter().map(|s| (*s).to_owned()).collect())
            );
        });
    }
    let mut other = request.clone();
    other.messages[1].provider = Some("q".into());
    with(&other, Dialect::Gemini, &Quirks::NONE, |fitted| {
        assert_eq!(fitted.messages[1].content[0].state, StateUse::Foreign);
        assert_eq!(all(fitted), ["ForeignState messages[1].content[0]"]);
    });
}

#[test]
fn state_on_a_message_is_told_where_it_has_no_place() {
    let mut message = Message::assistant("So.");
    message.provider_data = sealed(Dialect::Gemini, "thought_signature");
    let request = Request::new("some-model").user("Hello").message(message).user("And?");
    for dialect in Dialect::ALL {
        let code = if dialect == Dialect::Gemini { "NotInDialect" } else { "ForeignState" };
        with(&request, dialect, &Quirks::NONE, |fitted| assert_eq!(all(fitted), [format!("{code} messages[1]")]));
    }
}

#[test]
fn thinking_without_a_seal_goes_back_as_text_where_that_is_wanted() {
    let request = Request::new("some-model")
        .user("Hello")
        .message(Message::assistant([Block::thinking("Hm."), Block::text("So.")]))
        .user("And?");
    let sent = |dialect, quirks: &Quirks| {
        with(&request, dialect, quirks, |fitted| (fitted.messages[1].content.len(), all(fitted)))
    };
    for dialect in Dialect::ALL {
        let code = match dialect.abilities().thinking_back {
            ThinkingBack::Text => "RefusedByProvider",
            ThinkingBack::Sealed => "NotInDialect",
        };
        assert_eq!(sent(dialect, &Quirks::NONE), (1, vec![format!("{code} messages[1].content[0]")]));
    }
    let wanted = |replay_reasoning| Quirks {
        chat: crate::provider::ChatQuirks {
            replay_reasoning,
            reasoning_field: ReasoningField::ReasoningContent,
            ..Default::default()
        },
        ..Quirks::NONE
    };
    assert_eq!(sent(Dialect::OpenaiChat, &wanted(ReplayReasoning::Always)), (2, vec![]));
    assert_eq!(sent(Dialect::OpenaiChat, &wanted(ReplayReasoning::ToolLoop)).0, 1, "the loop is over");
}

#[test]
fn sealed_thinking_goes_back_to_its_issuer_even_if_no_other_does() {
    let request = Request::new("some-model")
        .user("Hello")
        .message(Message::assistant([thought(Dialect::OpenaiChat, "thinking_blocks"), Block::text("So.")]))
        .user("And?");
    let sent =
        with(&request, Dialect::OpenaiChat, &Quirks::NONE, |fitted| (fitted.messages[1].content.len(), all(fitted)));
    assert_eq!(sent, (2, vec![]));
}

#[test]
fn thinking_is_off_in_a_tool_turn_that_another_model_began() {
    let turn = |thinking: Block| {
        let mut request = Request::new("claude-sonnet-4-5").user("Hello");
        request.messages.push(Message::assistant([thinking, call("c1")]));
        request.messages.push(result("c1"));
        request.thinking = Some(Level::Low.into());
        request.max_output_tokens = Some(100);
        request
    };
    let seen = |request: &Request, dialect| {
        with(request, dialect, &Quirks::NONE, |fitted| (fitted.thinking.thinks, all(fitted)))
    };
    let own = turn(thought(Dialect::Anthropic, "signature"));
    assert_eq!(seen(&own, Dialect::Anthropic), (true, vec![]));
    let foreign = turn(thought(Dialect::Gemini, "thought_signature"));
    let lost = vec!["ForeignState messages[1].content[0]".to_owned(), "Conflict thinking".to_owned()];
    assert_eq!(seen(&foreign, Dialect::Anthropic), (false, lost.clone()));
    assert!(seen(&foreign, Dialect::OpenaiChat).0, "only budgets demand it");
    // The user's words after the results are in the same message on the wire.
    assert_eq!(seen(&foreign.clone().user("Well?"), Dialect::Anthropic), (false, lost.clone()));
    // Also in a request that is sent as received.
    let mut came = foreign;
    came.provider_data.set_part(Dialect::Anthropic, Part::Shape, "model", "claude-sonnet-4-5");
    with(&came, Dialect::Anthropic, &Quirks::NONE, |fitted| {
        assert_eq!((fitted.thinking.must, fitted.thinking.setting), (true, ThinkingSetting::Unsaid));
        assert_eq!(all(fitted), lost);
    });
    let mut next = came.message(Message::assistant("So.")).user("And?");
    next.provider_data = crate::ProviderData::default();
    assert!(seen(&next, Dialect::Anthropic).0, "the turn is over");
}

#[test]
fn other_dialects_blocks_stay_behind_and_empty_messages_with_them() {
    let other = |dialect| Block::Other(Other { dialect, data: json!({"type": "x"}).into() });
    for own in Dialect::ALL {
        let mut request = Request::new("some-model").user("Hello");
        request.messages.extend(Dialect::ALL.map(|dialect| Message::user(other(dialect))));
        let inner = ToolResult { content: vec![other(own)], ..ToolResult::default() };
        request.messages.push(Message::new(Role::Tool, Block::ToolResult(inner)));
        with(&request, own, &Quirks::NONE, |fitted| {
            assert_eq!(fitted.messages.len(), 3, "{own}");
            assert_eq!(losses_of(fitted, LossCode::ForeignContent), Dialect::ALL.len() - 1);
        });
        let mut from_elsewhere = Message::assistant([other(own), Block::text("So.")]);
        from_elsewhere.provider = Some("q".into());
        let request = Request::new("some-model").user("Hello").message(from_elsewhere).user("And?");
        with(&request, own, &Quirks::NONE, |fitted| {
            assert_eq!(all(fitted), ["ForeignContent messages[1].content[0]"], "{own}");
        });
    }
}

fn losses_of(fitted: &Fitted<'_>, code: LossCode) -> usize {
    fitted.losses.iter().filter(|loss| loss.code == code).count()
}

#[test]
fn ids_are_replaced_in_call_and_result() {
    let mut request = Request::new("some-model").user("Hello");
    request.messages.push(Message::assistant([Block::Text(Text::default()), call("toolu.01/x")]));
    request.messages.push(result("toolu.01/x"));
    let ids = |dialect, quirks: &Quirks| {
        with(&request, dialect, quirks, |fitted| {
            let call = fitted.messages[1].content[1].block.as_tool_call().unwrap().id.clone();
            let result = fitted.messages[2].content[0].block.as_tool_result().unwrap().tool_call_id.clone();
            assert_eq!(call, result);
            (call, all(fitted))
        })
    };
    let (id, losses) = ids(Dialect::Anthropic, &Quirks::NONE);
    assert!(id.starts_with("call_") && losses == ["info Renamed messages"]);
    assert_eq!(ids(Dialect::OpenaiChat, &Quirks::NONE), ("toolu.01/x".into(), vec![]));
    let nine =
        Quirks { chat: crate::provider::ChatQuirks { tool_ids_of_nine: true, ..Default::default() }, ..Quirks::NONE };
    let (id, losses) = ids(Dialect::OpenaiChat, &nine);
    assert!(id.len() == 9 && losses == ["info Renamed messages"]);
}
