//! Conversations: what is kept, and what is sent next.

use ikigai_core::{Block, Dialect, ErrorKind, Event, Level, Part, Response, Role, ThinkingBlock, user};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::testing::{Piece, Reply, Scripted, calls, frames, says};
use crate::transport::Failure;
use crate::{Callable, Retry, Tool};

const CLAUDE: &str = "anthropic:claude-sonnet-4-5/low";

/// An answer with signed thinking.
fn thinks(text: &str) -> Response {
    let mut thinking = ThinkingBlock::new("Hm.");
    thinking.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "c2lnbmVk");
    let mut response = says("");
    response.model = "claude-sonnet-4-5-20250929".to_owned();
    response.content = vec![Block::Thinking(thinking), Block::text(text)];
    response
}

fn roles(chat: &crate::Chat) -> Vec<Role> {
    chat.history().iter().map(|message| message.role).collect()
}

#[tokio::test]
async fn a_conversation_grows_and_moves_between_models_with_its_state() {
    let scripted = Scripted::new([
        Reply::whole(Dialect::Anthropic, &thinks("Seven, then.")),
        Reply::whole(Dialect::OpenaiResponses, &says("It is 7.")),
        Reply::whole(Dialect::Anthropic, &thinks("Still 7.")),
    ]);
    let mut chat = scripted.client().model(CLAUDE).unwrap().system("Be brief.").chat();
    chat.say("My favourite number is 7.").await.unwrap();
    let answer = chat.switch("openai:gpt-5.4").unwrap().say("What is my favourite number?").await.unwrap();
    assert_eq!(answer.text(), "It is 7.");
    chat.switch("anthropic:claude-sonnet-4-5/high").unwrap().say("Sure?").await.unwrap();

    let second = scripted.body(1).to_string();
    assert!(!second.contains("c2lnbmVk"), "a signature goes to its own provider alone: {second}");
    assert!(second.contains("Seven, then.") && second.contains("Be brief."), "{second}");
    let third = scripted.body(2);
    assert_eq!(
        third["messages"][1]["content"][0],
        json!({"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}),
        "and comes back to it whole: {third}"
    );
    assert_eq!(roles(&chat), [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User, Role::Assistant]);
    let by: Vec<_> = chat.history().iter().filter_map(|message| message.provider.as_deref()).collect();
    assert_eq!(by, ["anthropic", "openai", "anthropic"]);
    let levels: Vec<_> = chat.history().iter().skip(1).step_by(2).map(|message| message.thinking).collect();
    assert_eq!(levels, [Some(Level::Low), None, Some(Level::High)]);
    assert!(chat.cost().unwrap() > ikigai_core::catalog::Money::ZERO);
}

#[tokio::test]
async fn a_name_that_means_no_model_switches_nothing() {
    let scripted = Scripted::new([]);
    let mut chat = scripted.client().model(CLAUDE).unwrap().chat();
    assert_eq!(chat.switch("no-such-model").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(chat.model().name().model, "claude-sonnet-4-5");
}

#[tokio::test]
async fn a_turn_that_fails_leaves_the_conversation_as_it_was() {
    let refused = Reply::new(401, r#"{"type":"error","error":{"type":"authentication_error","message":"No"}}"#);
    let scripted = Scripted::new([refused, Reply::whole(Dialect::Anthropic, &says("Hello."))]);
    let mut chat = scripted.client().model(CLAUDE).unwrap().chat();
    assert!(chat.say("Hi").await.is_err());
    assert_eq!(roles(&chat), []);
    chat.say("Hi").await.unwrap();
    assert_eq!(scripted.body(1)["messages"], json!([{"role": "user", "content": "Hi"}]));
}

#[tokio::test]
async fn tools_that_have_run_stay_in_a_conversation_whose_turn_failed() {
    let refused = Reply::new(401, r#"{"type":"error","error":{"type":"authentication_error","message":"No"}}"#);
    let scripted = Scripted::new([
        Reply::whole(Dialect::Anthropic, &calls(&[("c1", "clock", json!({}))])),
        refused,
        Reply::whole(Dialect::Anthropic, &says("Noon.")),
    ]);
    let clock = Callable::new(Tool::new("clock", "Tells the time."), |_| async { "12:00" });
    let mut chat = scripted.client().model("anthropic:claude-haiku-4-5").unwrap().tool(clock).chat();
    let error = chat.say("What time is it?").await.unwrap_err();
    assert_eq!((error.kind(), error.messages().len()), (ErrorKind::Auth, 2));
    assert_eq!(roles(&chat), [Role::User, Role::Assistant, Role::Tool]);
    chat.say("And now?").await.unwrap();
    assert_eq!(roles(&chat).len(), 5);
}

#[tokio::test]
async fn a_streamed_answer_joins_the_conversation_when_it_is_finished() {
    let scripted = Scripted::new([
        Reply::stream(Dialect::Anthropic, &thinks("Hello.")),
        Reply::stream(Dialect::Anthropic, &thinks("Bye.")),
    ]);
    let mut chat = scripted.client().model(CLAUDE).unwrap().chat();
    let mut stream = chat.stream(user("Hi")).await.unwrap();
    let mut text = String::new();
    while let Some(piece) = stream.text().await.unwrap() {
        text.push_str(&piece);
    }
    assert_eq!(stream.finish().await.unwrap().text(), text);
    chat.stream("Bye").await.unwrap().finish().await.unwrap();
    assert_eq!(roles(&chat), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
    assert!(chat.cost().is_some());
    assert_eq!(scripted.body(1)["messages"][1]["content"][0]["signature"], "c2lnbmVk");
}

#[tokio::test]
async fn a_stream_that_holds_the_conversation_goes_anywhere_and_keeps_it() {
    use futures_util::{StreamExt as _, TryStreamExt as _};

    let scripted = Scripted::new([
        Reply::stream(Dialect::Anthropic, &thinks("Hello.")),
        Reply::stream(Dialect::Anthropic, &thinks("Bye.")),
        Reply::pieces(half(&thinks("Once upon"), "Once upon").into_iter().chain([Piece::Stall])),
    ]);
    let chat = scripted.client().model(CLAUDE).unwrap().chat();
    let chat = std::sync::Arc::new(tokio::sync::Mutex::new(chat));
    // In another task, like the body of a web server's response.
    let stream = crate::ChatStream::open(chat.clone().lock_owned().await, "Hi").await.unwrap();
    let events: Vec<Event> = tokio::spawn(stream.try_collect()).await.unwrap().unwrap();
    assert!(matches!(events.last(), Some(Event::Done { .. })), "{events:?}");
    let stream = crate::ChatStream::open(chat.clone().lock_owned().await, "Bye").await.unwrap();
    assert_eq!(stream.finish().await.unwrap().text(), "Bye.");
    {
        let mut stream = crate::ChatStream::open(chat.clone().lock_owned().await, "And?").await.unwrap();
        while !matches!(stream.next().await, Some(Ok(Event::TextDelta { .. }))) {}
    }
    let chat = chat.lock().await;
    let texts: Vec<String> = chat.history().iter().map(ikigai_core::Message::text).collect();
    assert_eq!(texts, ["Hi", "Hello.", "Bye", "Bye.", "And?", "Once upon"]);
    assert!(chat.cost().unwrap() > ikigai_core::catalog::Money::ZERO);
}

/// Returns the pieces of an answer up to and including its text.
fn half(response: &Response, text: &str) -> Vec<Piece> {
    let frames = frames(Dialect::Anthropic, response);
    let found = |frame: &bytes::Bytes| String::from_utf8_lossy(frame).contains(text);
    let place = frames.iter().position(found).unwrap();
    frames[..=place].iter().cloned().map(Piece::Bytes).collect()
}

#[tokio::test]
async fn an_answer_that_is_stopped_or_breaks_stays_as_far_as_it_came() {
    let broken = half(&thinks("Once upon"), "Once upon").into_iter().chain([Piece::Fail(Failure::Broken)]);
    let scripted = Scripted::new([
        Reply::pieces(half(&thinks("Once upon"), "Once upon").into_iter().chain([Piece::Stall])),
        Reply::pieces(broken),
        Reply::whole(Dialect::Anthropic, &says("Fine.")),
    ]);
    let mut chat = scripted.client().model(CLAUDE).unwrap().retry(Retry::never()).chat();
    {
        let mut stream = chat.stream("Tell me a story").await.unwrap();
        assert_eq!(stream.text().await.unwrap().as_deref(), Some("Once upon"));
        assert_eq!(stream.so_far().unwrap().text(), "Once upon");
    }
    assert_eq!((chat.history()[1].text().as_str(), scripted.open()), ("Once upon", 0));
    let error = chat.stream("Another one").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    assert_eq!(roles(&chat), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
    assert_eq!(chat.history()[3].content, [Block::text("Once upon")], "thinking without its seal is left out");
    // And the next turn works.
    chat.say("Never mind").await.unwrap();
    assert_eq!(scripted.body(2)["messages"].as_array().unwrap().len(), 5);
}
