//! Messages, byte for byte.

use std::sync::Arc;

use ikigai_core::{Block, Message, Role};
use ikigai_store::{ConversationId, Details, Entry, ErrorKind, MessageId, Point, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{assistant, document, nested, picture, rich, user};

pub(crate) async fn everything_comes_back_as_it_was(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    let entry = rich();
    let stored = store.append(chat.id, entry.clone()).await.unwrap();
    assert_eq!(stored.entry, entry);
    assert_eq!(store.message(stored.id).await.unwrap(), stored);
    assert_eq!(store.thread(chat.id).await.unwrap(), std::slice::from_ref(&stored));
    // As JSON as well: what a prompt cache sees is text, not values.
    let read = store.message(stored.id).await.unwrap().entry;
    assert_eq!(serde_json::to_string(&read).unwrap(), serde_json::to_string(&entry).unwrap());
}

pub(crate) async fn positions_and_times(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    let one = store.append(chat.id, user("one")).await.unwrap();
    let two = store.append(chat.id, assistant("two")).await.unwrap();
    assert_eq!((one.position, two.position), (1, 2));
    assert!(chat.created <= one.created && one.created <= two.created && one.id < two.id);
    assert_eq!((one.conversation, one.created), (chat.id, one.updated));
    let now = store.conversation(chat.id).await.unwrap();
    assert_eq!((now.messages, now.updated), (2, two.created));
}

pub(crate) async fn the_first_question_is_the_title(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    store.append(chat.id, assistant("Welcome")).await.unwrap();
    store.append(chat.id, user(" \n")).await.unwrap();
    assert_eq!(store.conversation(chat.id).await.unwrap().title, None);
    store.append(chat.id, user("\n  Why is\tthe sky blue? \nAnd more")).await.unwrap();
    store.append(chat.id, user("Another question")).await.unwrap();
    assert_eq!(store.conversation(chat.id).await.unwrap().title.as_deref(), Some("Why is the sky blue?"));
    let named = store.create(Details::default().title("Mine")).await.unwrap();
    store.append(named.id, user("Why?")).await.unwrap();
    assert_eq!(store.conversation(named.id).await.unwrap().title.as_deref(), Some("Mine"));
}

pub(crate) async fn attachments_are_kept_once(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    let other = store.create(Details::default()).await.unwrap();
    let with = |block: Block| Entry::from(Message::new(Role::User, [Block::text("See:"), block.clone(), block]));
    let large = picture(7, 100_000);
    let first = store.append(chat.id, with(large.clone())).await.unwrap();
    let second = store.append(other.id, with(large.clone())).await.unwrap();
    store.append(other.id, with(picture(8, 50_000))).await.unwrap();
    store.append(other.id, with(picture(9, 100))).await.unwrap();
    store.append(other.id, with(document("a.txt", &"text ".repeat(2000)))).await.unwrap();
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.attachments, stats.attachment_bytes), (3, 100_000 + 50_000 + 10_000));
    assert_eq!(first.entry, with(large.clone()));
    assert_eq!(second.entry, with(large));

    // Attachments go with the last message that has them.
    store.delete(chat.id).await.unwrap();
    assert_eq!(store.stats().await.unwrap().attachments, 3);
    assert_eq!(store.message(second.id).await.unwrap(), second);
    store.truncate(other.id, Point::After(second.id)).await.unwrap();
    assert_eq!(store.stats().await.unwrap().attachment_bytes, 100_000);
    store.finish(second.id, user("no picture")).await.unwrap();
    assert_eq!(store.stats().await.unwrap().attachments, 0);
}

pub(crate) async fn deep_arguments_come_back(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    let call = |levels| {
        let arguments = nested(levels).as_object().cloned().unwrap();
        Entry::from(Message::new(Role::Assistant, Block::tool_call("1", "f", arguments)))
    };
    let stored = store.append(chat.id, call(180)).await.unwrap();
    assert_eq!(store.message(stored.id).await.unwrap().entry, call(180));
    // Arguments are stored as the model wrote them, however deep.
    let stored = store.append(chat.id, call(1000)).await.unwrap();
    assert_eq!(store.message(stored.id).await.unwrap().entry, call(1000));
    assert_eq!(store.conversation(chat.id).await.unwrap().messages, 2);
}

pub(crate) async fn several_at_once_or_none(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap();
    let entries: Vec<Entry> = (0..5).map(|number| user(&number.to_string())).collect();
    let added = store.append_all(chat.id, entries.clone()).await.unwrap();
    assert_eq!(added.iter().map(|stored| stored.entry.clone()).collect::<Vec<_>>(), entries);
    assert_eq!(added.iter().map(|stored| stored.position).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(store.append_all(chat.id, Vec::new()).await.unwrap(), []);
    assert_eq!(store.thread(chat.id).await.unwrap(), added);
    let missing = ConversationId::new();
    assert_eq!(store.append_all(missing, entries).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.stats().await.unwrap().messages, 5);
}

pub(crate) async fn unknown_ids_are_told(store: Arc<dyn Store>) {
    let (chat, message) = (ConversationId::new(), MessageId::new());
    let no_chat = format!("there is no conversation {chat}");
    let no_message = format!("there is no message {message}");
    let told = [
        (store.conversation(chat).await.map(drop), &no_chat),
        (store.update(chat, Details::default()).await.map(drop), &no_chat),
        (store.delete(chat).await, &no_chat),
        (store.fork(chat, Point::End, Details::default()).await.map(drop), &no_chat),
        (store.family(chat).await.map(drop), &no_chat),
        (store.append(chat, user("x")).await.map(drop), &no_chat),
        (store.begin(chat, user("x").message).await.map(drop), &no_chat),
        (store.settle(chat).await.map(drop), &no_chat),
        (store.truncate(chat, Point::Start).await.map(drop), &no_chat),
        (store.thread(chat).await.map(drop), &no_chat),
        (store.record(chat).await.map(drop), &no_chat),
        (store.message(message).await.map(drop), &no_message),
        (store.grow(message, Vec::new()).await, &no_message),
        (store.finish(message, user("x")).await.map(drop), &no_message),
    ];
    for (outcome, expected) in told {
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound, expected.as_str()));
    }
}
