//! Answers that are stored as they grow.

use std::sync::Arc;
use std::time::Duration;

use ikigai_core::{Block, Collector, Event, FinishReason, Level, Message, Role, Usage};
use ikigai_store::{Details, Entry, ErrorKind, Recording, Search, State, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{stream, user};

/// The message that says who answers.
fn answers() -> Message {
    let mut message = Message::new(Role::Assistant, Vec::new());
    (message.provider, message.model, message.thinking) = (Some("p".into()), Some("m".into()), Some(Level::Low));
    message
}

fn whole(events: &[Event]) -> Entry {
    let mut collector = Collector::default();
    collector.extend(events.iter().cloned());
    Entry::answer(collector.finish(), "p")
}

pub(crate) async fn grows_and_is_finished(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    store.append(chat, user("Question")).await.unwrap();
    let id = store.begin(chat, answers()).await.unwrap();
    let begun = store.message(id).await.unwrap();
    assert_eq!((begun.position, &begun.entry), (2, &Entry::new(answers()).state(State::Partial)));

    let events = stream(&["Hel", "lo", " you"]);
    store.grow(id, events[..3].to_vec()).await.unwrap();
    store.grow(id, events[3..4].to_vec()).await.unwrap();
    let so_far = store.message(id).await.unwrap();
    let mut expected = Entry::new(answers()).state(State::Partial);
    (expected.message.content, expected.message.model) = (vec![Block::text("Hello")], Some("m-1".into()));
    expected.metadata.insert("response_id".into(), "msg_1".into());
    assert_eq!(so_far.entry, expected);
    assert!(so_far.updated >= begun.updated && so_far.created == begun.created);
    assert_eq!(store.stats().await.unwrap().partial, 1);

    let entry = whole(&events);
    let finished = store.finish(id, entry.clone()).await.unwrap();
    assert_eq!((finished.id, finished.position, &finished.entry), (id, 2, &entry));
    assert_eq!(store.message(id).await.unwrap(), finished);
    assert_eq!(store.stats().await.unwrap().partial, 0);
    let error = store.grow(id, events).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Settled);
    assert!(error.message().contains("it is complete"), "{error}");
}

pub(crate) async fn is_whole_at_every_moment(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let id = store.begin(chat, answers()).await.unwrap();
    let words: Vec<String> = (0..40).map(|number| format!("{number} ")).collect();
    let events = stream(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut collector = Collector::default();
    for event in events {
        collector.push(event.clone());
        store.grow(id, vec![event]).await.unwrap();
        let so_far = store.message(id).await.unwrap().entry;
        assert_eq!(so_far.message.content, collector.so_far().content);
        assert_eq!(so_far.usage, collector.so_far().usage);
        assert_eq!(so_far.state, State::Partial);
        let ended = collector.is_done().then_some(FinishReason::Stop);
        assert_eq!(so_far.finish_reason, ended);
    }
}

pub(crate) async fn is_settled_when_its_writer_is_gone(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    store.append(chat, user("Question")).await.unwrap();
    let id = store.begin(chat, answers()).await.unwrap();
    store.grow(id, stream(&["platypus"])[..3].to_vec()).await.unwrap();
    assert_eq!(store.search(Search::new("platypus")).await.unwrap(), []);
    assert_eq!(store.settle(chat).await.unwrap(), 1);
    let settled = store.message(id).await.unwrap();
    assert_eq!((settled.entry.state, settled.entry.message.text().as_str()), (State::Cut, "platypus"));
    assert_eq!(store.search(Search::new("platypus")).await.unwrap().len(), 1);
    assert_eq!(store.settle(chat).await.unwrap(), 0);
    assert_eq!(store.grow(id, Vec::new()).await.unwrap_err().kind(), ErrorKind::Settled);
}

pub(crate) async fn a_recording_keeps_what_was_pushed(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let mut recording = Recording::begin(Arc::clone(&store), chat, answers()).await.unwrap();
    let events = stream(&["one ", "two ", "three"]);
    for event in &events[..4] {
        recording.push(event.clone()).await.unwrap();
    }
    // Nothing more arrives, and yet it is stored within a second.
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let so_far = store.message(recording.id()).await.unwrap().entry;
    assert_eq!((so_far.message.text().as_str(), so_far.state), ("one two ", State::Partial));
    for event in &events[4..] {
        recording.push(event.clone()).await.unwrap();
    }
    let mut entry = whole(&events);
    entry.usage = Some(Usage::new(0, 3));
    let finished = recording.finish(entry.clone()).await.unwrap();
    // An answer does not say at which level it was requested.
    assert_eq!((entry.message.thinking, entry.message.model.as_deref()), (None, Some("m-1")));
    entry.message.thinking = Some(Level::Low);
    assert_eq!(finished.entry, entry);
}

pub(crate) async fn a_recording_is_cut(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let mut recording = Recording::begin(Arc::clone(&store), chat, answers()).await.unwrap();
    for event in &stream(&["one ", "two"])[..4] {
        recording.push(event.clone()).await.unwrap();
    }
    let cut = recording.cut().await.unwrap();
    assert_eq!((cut.entry.message.text().as_str(), cut.entry.state), ("one two", State::Cut));
    assert_eq!(cut.entry.message.thinking, Some(Level::Low));
    // The conversation goes on.
    assert_eq!(store.append(chat, user("Go on")).await.unwrap().position, 2);
}

pub(crate) async fn a_dropped_recording_stays_partial(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let mut recording = Recording::begin(Arc::clone(&store), chat, answers()).await.unwrap();
    let id = recording.id();
    for event in &stream(&["one ", "two"])[..4] {
        recording.push(event.clone()).await.unwrap();
    }
    drop(recording);
    for _ in 0..100 {
        if store.message(id).await.unwrap().entry.message.text() == "one two" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let left = store.message(id).await.unwrap().entry;
    assert_eq!((left.message.text().as_str(), left.state), ("one two", State::Partial));
}

pub(crate) async fn a_settled_recording_still_finishes(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let mut recording = Recording::begin(Arc::clone(&store), chat, answers()).await.unwrap();
    let events = stream(&["one ", "two ", "three"]);
    recording.push(events[0].clone()).await.unwrap();
    store.settle(chat).await.unwrap();
    for event in &events[1..] {
        recording.push(event.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let finished = recording.finish(whole(&events)).await.unwrap();
    assert_eq!((finished.entry.state, finished.entry.message.text().as_str()), (State::Complete, "one two three"));

    // An answer whose conversation is gone says so.
    let recording = Recording::begin(Arc::clone(&store), chat, answers()).await.unwrap();
    store.delete(chat).await.unwrap();
    assert_eq!(recording.finish(whole(&events)).await.unwrap_err().kind(), ErrorKind::NotFound);
}

pub(crate) async fn growing_survives_odd_streams(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let id = store.begin(chat, answers()).await.unwrap();
    // Text for a block that never opened, an end, and more after it: stored, and readable.
    let odd = [
        Event::TextDelta { index: 3, text: "lost\0".into() },
        Event::Done { finish_reason: FinishReason::Stop, provider_data: Default::default() },
        Event::TextDelta { index: 0, text: "late".into() },
    ];
    store.grow(id, odd.to_vec()).await.unwrap();
    store.grow(id, Vec::new()).await.unwrap();
    let read = store.message(id).await.unwrap().entry;
    assert_eq!(
        (read.message.content, read.state, read.finish_reason),
        (vec![], State::Partial, Some(FinishReason::Error))
    );
}
