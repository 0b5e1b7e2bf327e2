//! Any message and any stream that the format allows.

use std::sync::Arc;

use ikigai_core::{Collector, Message, Role};
use ikigai_store::{Details, Entry, State, Store};
use pretty_assertions::assert_eq;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::format::generate::{Reach, request, response, streamed};
use crate::support::setting;

/// Values as proptest makes them, the same in every run.
fn made<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

pub(crate) async fn any_message_comes_back(store: Arc<dyn Store>) {
    let mut seen = 0;
    for request in made(request(Reach::Everything), setting("IKIGAI_STORE_CASES", 60)) {
        let details = Details::default().system(request.system.clone());
        let chat = store.create(details).await.unwrap();
        assert_eq!(chat.system, request.system);
        let entries: Vec<Entry> = request.messages.into_iter().map(Entry::from).collect();
        seen += entries.len();
        store.append_all(chat.id, entries.clone()).await.unwrap();
        let thread = store.thread(chat.id).await.unwrap();
        assert_eq!(thread.into_iter().map(|stored| stored.entry).collect::<Vec<_>>(), entries);
    }
    assert!(seen > 100, "only {seen} messages were made");
}

pub(crate) async fn any_answer_comes_back(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    for response in made(response(Reach::Everything), setting("IKIGAI_STORE_CASES", 60)) {
        let entry = Entry::answer(response, "p");
        let id = store.append(chat, entry.clone()).await.unwrap().id;
        assert_eq!(store.message(id).await.unwrap().entry, entry);
    }
}

pub(crate) async fn any_stream_is_kept(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    for (response, events) in made(streamed(Reach::Everything), setting("IKIGAI_STORE_CASES", 60)) {
        let id = store.begin(chat, Message::new(Role::Assistant, Vec::new())).await.unwrap();
        let half = events.len() / 2;
        store.grow(id, events[..half].to_vec()).await.unwrap();
        let mut collector = Collector::default();
        collector.extend(events[..half].iter().cloned());
        let so_far = store.message(id).await.unwrap().entry;
        assert_eq!(so_far.message.content, collector.finish().content);

        store.grow(id, events[half..].to_vec()).await.unwrap();
        let read = store.message(id).await.unwrap().entry;
        let expected = Entry::answer(response, "").state(State::Partial);
        assert_eq!((read.message.content, read.usage), (expected.message.content, expected.usage));
        assert_eq!((read.metadata, read.finish_reason), (expected.metadata, expected.finish_reason));
        assert_eq!(read.message.provider_data, expected.message.provider_data);
    }
}
