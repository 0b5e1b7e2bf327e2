use std::sync::Arc;

use ikigai::{
    Block, Event, FinishReason, Message, ModelName, ProviderCall, ProviderResult, Response, Role, ToolResult,
};
use ikigai_core::{Arguments, events};
use ikigai_store::{Details, Sqlite, State, Store};
use pretty_assertions::assert_eq;

use super::*;

fn name() -> ModelName {
    ModelName::new("anthropic", "claude-sonnet-4-5")
}

fn answer(content: Vec<Block>, finish_reason: FinishReason) -> Response {
    let mut response = Response::new(content, finish_reason);
    response.model = "claude-sonnet-4-5".to_owned();
    response
}

async fn store() -> (Arc<dyn Store>, ConversationId) {
    let store: Arc<dyn Store> = Arc::new(Sqlite::memory().await.unwrap());
    let id = store.create(Details::default()).await.unwrap().id;
    store.append(id, Message::new(Role::User, "Hi").into()).await.unwrap();
    (store, id)
}

async fn record(recorder: &mut Recorder, response: &Response) {
    for event in events(response) {
        if !matches!(event, Event::Done { .. }) {
            recorder.event(&event).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_turn_with_tools_is_kept_message_by_message() {
    let (store, id) = store().await;
    let mut recorder = Recorder::new(Arc::clone(&store), id, name());
    let call = Block::tool_call("c1", "look", Arguments::default());
    let asks = answer(vec![call], FinishReason::ToolUse);
    record(&mut recorder, &asks).await;
    recorder.answer(asks, Paid::default()).await.unwrap();
    recorder.result(&ToolResult::new("c1", "seen"));
    let says = answer(vec!["Done.".into()], FinishReason::Stop);
    record(&mut recorder, &says).await;
    recorder.answer(says, Paid::default()).await.unwrap();
    let stored = recorder.end(None).await.unwrap();

    let thread = store.thread(id).await.unwrap();
    assert_eq!(stored, thread[1..]);
    let roles: Vec<Role> = thread.iter().map(|stored| stored.entry.message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert!(thread.iter().all(|stored| stored.entry.state == State::Complete));
    assert_eq!(sendable(&thread).len(), 4);
}

#[tokio::test]
async fn what_was_cut_off_is_kept_and_marked() {
    let (store, id) = store().await;
    let mut recorder = Recorder::new(Arc::clone(&store), id, name());
    let half = answer(vec!["Hel".into()], FinishReason::Error);
    record(&mut recorder, &half).await;
    recorder.end(Some(half)).await.unwrap();
    let thread = store.thread(id).await.unwrap();
    assert_eq!((thread[1].entry.state, thread[1].entry.message.text().as_str()), (State::Cut, "Hel"));
}

#[tokio::test]
async fn an_answer_of_which_nothing_came_leaves_nothing() {
    let (store, id) = store().await;
    let mut recorder = Recorder::new(Arc::clone(&store), id, name());
    recorder.event(&Event::Start { id: None, model: None, provider_data: Default::default() }).await.unwrap();
    recorder.end(Some(Response::default())).await.unwrap();
    assert_eq!(store.thread(id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn calls_that_nobody_answered_are_answered_before_the_next_message() {
    let (store, id) = store().await;
    let call = |id: &str| Block::tool_call(id, "look", Arguments::default());
    let asks = Message::new(Role::Assistant, vec![call("c1"), call("c2")]);
    let results = Message::tool_result("c1", "seen");
    let entries = vec![asks.into(), results.into(), Message::new(Role::User, "And now?").into()];
    store.append_all(id, entries).await.unwrap();
    let messages = sendable(&store.thread(id).await.unwrap());
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::User]);
    let answered: Vec<&str> = messages[2]
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.tool_call_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(answered, ["c1", "c2"]);
}

#[tokio::test]
async fn a_search_that_was_stopped_is_not_sent_again() {
    let (store, id) = store().await;
    let call = |id: &str| {
        let mut call = ProviderCall::default();
        call.id = id.to_owned();
        Block::ProviderCall(call)
    };
    let mut result = ProviderResult::default();
    result.call_id = "s1".to_owned();
    let result = Block::ProviderResult(result);
    let content = vec![Block::text("Let me look."), call("s1"), call("s2"), result.clone()];
    let mut recorder = Recorder::new(Arc::clone(&store), id, name());
    let cut = answer(content, FinishReason::Error);
    record(&mut recorder, &cut).await;
    recorder.end(Some(cut)).await.unwrap();
    let sent = sendable(&store.thread(id).await.unwrap());
    assert_eq!(sent[1].content, [Block::text("Let me look."), call("s1"), result]);
}

#[tokio::test]
async fn half_a_thought_is_not_sent_again() {
    let (store, id) = store().await;
    let mut entry = Entry::new(Message::new(Role::Assistant, vec![Block::thinking("Hm"), Block::text("Hel")]));
    entry.state = State::Cut;
    store.append(id, entry).await.unwrap();
    let messages = sendable(&store.thread(id).await.unwrap());
    assert_eq!(messages[1].content, [Block::text("Hel")]);
}

#[tokio::test]
async fn a_question_that_failed_is_marked_and_left_out_unless_it_is_asked_again() {
    let (store, id) = store().await;
    let first = store.thread(id).await.unwrap().remove(0);
    store.finish(first.id, unanswered(first.entry, "overloaded")).await.unwrap();
    let thread = store.thread(id).await.unwrap();
    assert_eq!(failure(&thread[0], None), Some("overloaded"));
    assert_eq!(sendable(&thread), [Message::new(Role::User, "Hi")], "asked again, it is sent");
    store.append(id, Message::new(Role::User, "Hello?").into()).await.unwrap();
    let thread = store.thread(id).await.unwrap();
    assert_eq!(failure(&thread[0], thread.get(1)), Some("overloaded"));
    assert_eq!(sendable(&thread), [Message::new(Role::User, "Hello?")]);
    // It was answered in another branch.
    let fork = store.fork(id, Point::After(thread[0].id), Details::default()).await.unwrap().id;
    store.append(fork, Message::new(Role::Assistant, "Hi!").into()).await.unwrap();
    let thread = store.thread(fork).await.unwrap();
    assert_eq!(failure(&thread[0], thread.get(1)), None);
    assert_eq!(sendable(&thread).len(), 2);
}

#[tokio::test]
async fn the_cost_of_an_answer_that_was_stopped_is_estimated() {
    let (store, id) = store().await;
    let registry = ikigai::Registry::default();
    let facts = registry.route(&name()).unwrap().facts.cloned();
    let meter = Meter::new("claude-sonnet-4-5".to_owned(), facts, 1000, "Esc");
    let mut recorder = Recorder::new(Arc::clone(&store), id, name()).metered(&meter);
    let cut = answer(vec![Block::text("x".repeat(4000))], FinishReason::Stop);
    record(&mut recorder, &cut).await;
    let stored = recorder.end(Some(cut)).await.unwrap();
    // 1,000 tokens at $3 per million and 1,000 at $15.
    assert_eq!(stored[0].entry.cost.map(|cost| cost.to_string()), Some("$0.018000".to_owned()));
    assert_eq!(stored[0].entry.state, State::Cut);
}
