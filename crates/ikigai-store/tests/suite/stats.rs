//! Statistics, health, closing.

use std::sync::Arc;

use ikigai_core::Usage;
use ikigai_core::catalog::Money;
use ikigai_store::{ConversationId, Details, ErrorKind, Listing, Point, State, Stats, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{assistant, picture, rich, user};

pub(crate) async fn statistics(store: Arc<dyn Store>) {
    let empty = store.stats().await.unwrap();
    assert_eq!(
        (empty.conversations, empty.messages, empty.spent.models.len(), empty.spent.cost()),
        (0, 0, 0, Money::ZERO)
    );
    let chat = store.create(Details::default()).await.unwrap().id;
    store.create(Details::default()).await.unwrap();
    let mut question = user("Question");
    question.message.content.push(picture(1, 8000));
    store.append(chat, question).await.unwrap();
    for number in 1..=3_u64 {
        let mut usage = Usage::new(number, 10);
        usage.thinking_tokens = 5;
        let entry = assistant("Answer").usage(usage).cost(Money::from_pico(i128::from(number) * 1_000_000));
        store.append(chat, entry).await.unwrap();
    }
    store.append(chat, rich()).await.unwrap();
    let stats = store.stats().await.unwrap();
    assert!(stats.size > 0);
    let Stats { conversations, messages, partial, attachments, .. } = stats;
    assert_eq!((conversations, messages, partial, attachments), (2, 5, 0, 3));
    let told: Vec<_> = stats
        .spent
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
    let mut expected = Usage::new(6, 30);
    expected.thinking_tokens = 15;
    assert_eq!(stats.spent.models[0].usage, expected);
    assert_eq!(stats.spent.cost(), Money::from_pico(dear + 6_000_000));
}

pub(crate) async fn a_conversation_knows_what_it_took(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let took = |input: u64| Usage::new(input, 10);
    store.append(chat, user("Question")).await.unwrap();
    let first = store.append(chat, assistant("One").usage(took(1)).cost(Money::from_pico(5))).await.unwrap();
    let mut other = assistant("Two").usage(took(2));
    other.message.model = Some("another".into());
    store.append(chat, other).await.unwrap();
    let fork = store.fork(chat, Point::After(first.id), Details::default()).await.unwrap().id;
    store.append(fork, assistant("Three").usage(took(4)).cost(Money::from_pico(7))).await.unwrap();

    let spent = store.spent(chat).await.unwrap();
    let told: Vec<_> = spent
        .models
        .iter()
        .map(|one| (one.model.as_deref().unwrap(), one.answers, one.unpriced, one.usage.clone(), one.cost.pico()))
        .collect();
    assert_eq!(told, [("another", 1, 1, took(2), 0), ("claude-sonnet-4-5", 1, 0, took(1), 5)]);
    let all = Usage::new(3, 20);
    assert_eq!((spent.answers(), spent.unpriced(), spent.usage()), (2, 1, all));
    // What a fork shares counts as part of what it took.
    let all = Usage::new(5, 20);
    let spent = store.spent(fork).await.unwrap();
    assert_eq!((spent.answers(), spent.unpriced(), spent.usage(), spent.cost()), (2, 0, all, Money::from_pico(12)));
    assert_eq!(store.stats().await.unwrap().spent.answers(), 3);
    // The family's answers count once each; what was cut off has an estimate.
    let cut = assistant("Fo").cost(Money::from_pico(9)).state(State::Cut);
    store.append(fork, cut).await.unwrap();
    for member in [chat, fork] {
        let spent = store.spent_by_family(member).await.unwrap();
        let told = (spent.answers(), spent.unpriced(), spent.estimated(), spent.cost());
        assert_eq!(told, (4, 1, 1, Money::from_pico(21)));
    }

    let empty = store.create(Details::default()).await.unwrap().id;
    assert_eq!(store.spent(empty).await.unwrap().models, []);
    let unknown = store.spent(ConversationId::new()).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
}

pub(crate) async fn a_good_database_is_well(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    store.append_all(chat, vec![user("a"), rich()]).await.unwrap();
    let health = store.check().await.unwrap();
    assert!(health.is_well(), "{health:?}");
    assert_eq!((health.schema, health.place.as_str()), (3, store.place()));
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
