//! Conversations, settings, prompts.

use std::sync::Arc;

use ikigai_core::{Block, Level, Thinking};
use ikigai_store::{ConversationId, Details, ErrorKind, Listing, ModelChoice, Store, Time};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::sample::user;

pub(crate) async fn made_opened_changed(store: Arc<dyn Store>) {
    let before = Time::now();
    let bare = store.create(Details::default()).await.unwrap();
    assert_eq!((bare.title.as_deref(), bare.messages, bare.parent), (None, 0, None));
    assert_eq!((bare.system.len(), &bare.model, bare.metadata.len()), (0, &ModelChoice::default(), 0));
    assert!(before <= bare.created && bare.created == bare.updated && bare.updated <= Time::now());
    assert_eq!(store.conversation(bare.id).await.unwrap(), bare);

    let mut thinking = Thinking::from(Level::High).hidden();
    thinking.budget = Some(50_000);
    let model = ModelChoice::new("anthropic\0", "claude \"quoted\"").thinking(thinking);
    let metadata = json!({"allowed": ["shell"], "q": "\""}).as_object().cloned().unwrap();
    let details = Details::default()
        .title("  A \"title\"\n with\0 lines  ")
        .system([Block::text("Be brief."), Block::text("\0")])
        .model(model.clone())
        .metadata(metadata.clone());
    let full = store.create(details).await.unwrap();
    assert_eq!(full.title.as_deref(), Some("A \"title\" with lines"));
    assert_eq!(full.system, [Block::text("Be brief."), Block::text("\0")]);
    assert_eq!((&full.model, &full.metadata), (&model, &metadata));

    // Only what is named changes, and this does not make a conversation newer.
    let switched = ModelChoice::new("google", "gemini-3-pro");
    let changed = store.update(full.id, Details::default().model(switched.clone())).await.unwrap();
    assert_eq!(changed, ikigai_store::Conversation { model: switched, ..full.clone() });
    let renamed = store.update(full.id, Details::default().title("Other").system("New.")).await.unwrap();
    assert_eq!((renamed.title.as_deref(), &renamed.system), (Some("Other"), &vec![Block::text("New.")]));
    let untitled = store.update(full.id, Details::default().title(" ")).await.unwrap();
    assert_eq!((untitled.title, untitled.metadata), (None, metadata));

    store.delete(full.id).await.unwrap();
    let error = store.conversation(full.id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), format!("{}: there is no conversation {}", store.place(), full.id));
}

pub(crate) async fn listed_newest_first_page_by_page(store: Arc<dyn Store>) {
    assert_eq!(store.list(Listing::default()).await.unwrap().conversations, []);
    assert_eq!(store.latest().await.unwrap(), None);
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(store.create(Details::default()).await.unwrap().id);
    }
    // A message makes a conversation the newest; a new title does not.
    store.append(ids[2], user("again")).await.unwrap();
    store.update(ids[0], Details::default().title("renamed")).await.unwrap();
    let expected = [ids[2], ids[6], ids[5], ids[4], ids[3], ids[1], ids[0]];

    assert_eq!(store.latest().await.unwrap().unwrap().id, ids[2]);

    let mut seen = Vec::new();
    let mut listing = Listing::newest(3);
    let mut sizes = Vec::new();
    loop {
        let page = store.list(listing).await.unwrap();
        sizes.push(page.conversations.len());
        seen.extend(page.conversations.iter().map(|conversation| conversation.id));
        let Some(next) = page.next else { break };
        // A conversation added or deleted between two pages moves nothing.
        let extra = store.create(Details::default()).await.unwrap();
        listing = Listing::newest(3).after(next.to_string().parse().unwrap());
        store.delete(extra.id).await.unwrap();
    }
    assert_eq!((seen.as_slice(), sizes.as_slice()), (&expected[..], &[3, 3, 1][..]));
    assert_eq!(store.list(Listing::newest(7)).await.unwrap().next, None);
    assert_eq!(store.list(Listing::newest(0)).await.unwrap().conversations, []);
}

pub(crate) async fn found_by_a_part_of_the_id(store: Arc<dyn Store>) {
    let one = store.create(Details::default()).await.unwrap();
    let other = store.create(Details::default()).await.unwrap();
    let text = one.id.to_string();
    for part in [text.as_str(), &text[24..], &text[28..].to_uppercase()] {
        assert_eq!(store.find(part).await.unwrap(), std::slice::from_ref(&one), "{part}");
    }
    assert_eq!(store.find(&text[..8]).await.unwrap(), [other, one]);
    for part in ["", "%", "_", "x", "'"] {
        assert_eq!(store.find(part).await.unwrap(), [], "{part}");
    }
    assert_eq!(store.find(&ConversationId::new().to_string()).await.unwrap(), []);
}

pub(crate) async fn settings_are_json(store: Arc<dyn Store>) {
    assert_eq!(store.setting("model").await.unwrap(), None);
    let value = json!({"model": "a \"quoted\" \\ name\0", "level": "med", "list": [1, 2.5, null]});
    store.set("model", value.clone()).await.unwrap();
    store.set("nothing", Value::Null).await.unwrap();
    store.set("it's", json!("x")).await.unwrap();
    store.set("it's", json!("y")).await.unwrap();
    assert_eq!(store.setting("model").await.unwrap(), Some(value.clone()));
    assert_eq!(store.setting("nothing").await.unwrap(), Some(Value::Null));
    store.unset("nothing").await.unwrap();
    store.unset("never there").await.unwrap();
    let all = store.settings().await.unwrap();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [("it's".to_owned(), json!("y")), ("model".to_owned(), value)]);
    for name in ["", "a\0b", &"x".repeat(300)] {
        assert_eq!(store.set(name, json!(1)).await.unwrap_err().kind(), ErrorKind::Invalid);
    }
}

pub(crate) async fn prompts_are_remembered(store: Arc<dyn Store>) {
    for text in ["one", "two", "two", " secret", "", "\n", "one", "a\0b\nc \"d\""] {
        store.remember_prompt(text).await.unwrap();
    }
    assert_eq!(store.prompts(100).await.unwrap(), ["one", "two", "one", "a\0b\nc \"d\""]);
    assert_eq!(store.prompts(2).await.unwrap(), ["one", "a\0b\nc \"d\""]);
}

pub(crate) async fn what_was_typed_goes_with_its_conversation(store: Arc<dyn Store>) {
    let (gone, kept) =
        (store.create(Details::default()).await.unwrap(), store.create(Details::default()).await.unwrap());
    for (conversation, text) in [(&gone, "my \"secret\"\n\0"), (&kept, "hello"), (&gone, "more of it")] {
        store.remember_prompt(text).await.unwrap();
        store.append(conversation.id, user(text)).await.unwrap();
    }
    store.remember_prompt("/model o3").await.unwrap();
    store.delete(gone.id).await.unwrap();
    assert_eq!(store.prompts(10).await.unwrap(), ["hello", "/model o3"]);
}
