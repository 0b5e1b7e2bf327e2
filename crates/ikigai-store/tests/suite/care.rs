//! Statistics, health, closing.

use std::sync::Arc;

use ikigai_core::{Money, Usage};
use ikigai_store::{Details, ErrorKind, Listing, Stats, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{assistant, picture, rich, user};

pub(crate) async fn statistics(store: Arc<dyn Store>) {
    let empty = store.stats().await.unwrap();
    assert_eq!((empty.conversations, empty.messages, empty.models.len(), empty.cost()), (0, 0, 0, Money::ZERO));
    let chat = store.create(Details::default()).await.unwrap().id;
    store.create(Details::default()).await.unwrap();
    let mut question = user("Question");
    question.message.content.push(picture(1, 8000));
    store.append(chat, question).await.unwrap();
    for number in 1..=3_u64 {
        let usage = Usage { input_tokens: number, output_tokens: 10, thinking_tokens: 5, ..Usage::default() };
        let entry = assistant("Answer").usage(usage).cost(Money::from_pico(i128::from(number) * 1_000_000));
        store.append(chat, entry).await.unwrap();
    }
    store.append(chat, rich()).await.unwrap();
    let stats = store.stats().await.unwrap();
    assert!(stats.size > 0);
    let Stats { conversations, messages, partial, attachments, .. } = stats;
    assert_eq!((conversations, messages, partial, attachments), (2, 5, 0, 3));
    let told: Vec<_> = stats
        .models
        .iter()
        .map(|one| (one.provider.as_deref().unwrap(), one.model.as_deref().unwrap(), one.answers, one.cost.pico()))
        .collect();
    let dear = 170_000_000_000_000_000_000_000_001;
    assert_eq!(
        told,
        [
            ("anthropic", "claude-sonnet-4-5", 3, 6_000_000),
            ("anthropic\u{FFFD}", "claude-sonnet-4-5-20250929", 1, dear)
        ]
    );
    let expected = Usage { input_tokens: 6, output_tokens: 30, thinking_tokens: 15, ..Usage::default() };
    assert_eq!(stats.models[0].usage, expected);
    assert_eq!(stats.cost(), Money::from_pico(dear + 6_000_000));
}

pub(crate) async fn a_good_database_is_well(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    store.append_all(chat, vec![user("a"), rich()]).await.unwrap();
    let health = store.check().await.unwrap();
    assert!(health.is_well(), "{health:?}");
    assert_eq!((health.schema, health.place.as_str()), (2, store.place()));
    assert!(health.engine.starts_with("SQLite 3.") || health.engine.starts_with("PostgreSQL "), "{}", health.engine);
}

pub(crate) async fn a_closed_store_says_so(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    store.close().await.unwrap();
    for outcome in [
        store.list(Listing::default()).await.map(drop),
        store.append(chat, user("x")).await.map(drop),
        store.create(Details::default()).await.map(drop),
    ] {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert_eq!(error.to_string(), format!("{}: the store is closed. Open the store again.", store.place()));
    }
    store.close().await.unwrap();
}
