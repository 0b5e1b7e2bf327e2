//! Concurrent writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use ikigai_store::{Details, Point, Search, Store};
use pretty_assertions::assert_eq;

use crate::support::Dice;
use crate::support::sample::{picture, user};

pub(crate) async fn many_writers_one_conversation(store: Arc<dyn Store>) {
    let chat = store.create(Details::default()).await.unwrap().id;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..20 {
                    store.append(chat, user(&format!("{writer} {number}"))).await.unwrap();
                    store.set("last", number.into()).await.unwrap();
                    store.thread(chat).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let thread = store.thread(chat).await.unwrap();
    let positions: Vec<u64> = thread.iter().map(|stored| stored.position).collect();
    assert_eq!(positions, (1..=160).collect::<Vec<_>>());
    // Each writer's messages are there, in order.
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for stored in &thread {
        let text = stored.entry.message.text();
        let (writer, number) = text.split_once(' ').unwrap();
        let expected = next.entry(writer.to_owned()).or_default();
        assert_eq!(number, expected.to_string());
        *expected += 1;
    }
}

/// Messages with the same few attachments are added while others with them go: nothing is missing or left over.
pub(crate) async fn attachments_come_and_go(store: Arc<dyn Store>) {
    let workers: Vec<_> = (0..6_u64)
        .map(|worker| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut dice = Dice(worker + 1);
                let mut mine = Vec::new();
                for round in 0..12 {
                    let chat = store.create(Details::default().title(format!("w{worker}"))).await.unwrap().id;
                    for _ in 0..2 {
                        let mut entry = user(&format!("gull {worker} {round}"));
                        let pictures = (0..2).map(|_| picture(dice.below(4) as u8, 6000));
                        entry.message.content.extend(pictures);
                        let stored = store.append(chat, entry.clone()).await.unwrap();
                        assert_eq!(store.message(stored.id).await.unwrap().entry, entry);
                    }
                    let fork = store.fork(chat, Point::End, Details::default()).await.unwrap().id;
                    match dice.below(3) {
                        0 => store.delete(chat).await.unwrap(),
                        1 => store.truncate(chat, Point::Start).await.map(drop).unwrap(),
                        _ => mine.push(chat),
                    }
                    if dice.below(2) == 0 {
                        store.delete(fork).await.unwrap();
                    } else {
                        mine.push(fork);
                    }
                    store.search(Search::new("gull")).await.unwrap();
                }
                for id in &mine {
                    assert_eq!(store.thread(*id).await.unwrap().len(), 2);
                }
                mine
            })
        })
        .collect();
    for worker in workers {
        let mine = worker.await.unwrap();
        for id in mine {
            store.delete(id).await.unwrap();
        }
    }
    for (id, _) in store.outline().await.unwrap() {
        store.delete(id).await.unwrap();
    }
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.conversations, stats.messages, stats.attachments), (0, 0, 0));
}
