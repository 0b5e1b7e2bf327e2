//! Forks, and what happens to shared messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use ikigai_store::{ConversationId, Details, ErrorKind, MessageId, ModelChoice, Parent, Point, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{assistant, picture, user};
use crate::support::{Dice, setting};

/// The texts of a conversation, in order.
async fn texts(store: &Arc<dyn Store>, id: ConversationId) -> Vec<String> {
    let thread = store.thread(id).await.unwrap();
    let positions: Vec<u64> = thread.iter().map(|stored| stored.position).collect();
    assert_eq!(positions, (1..=thread.len() as u64).collect::<Vec<_>>());
    assert_eq!(store.conversation(id).await.unwrap().messages, thread.len() as u64);
    thread.iter().map(|stored| stored.entry.message.text()).collect()
}

/// Creates a conversation with these messages. Returns its id and theirs.
async fn chat(store: &Arc<dyn Store>, said: &[&str]) -> (ConversationId, Vec<MessageId>) {
    let id = store.create(Details::default()).await.unwrap().id;
    (id, say(store, id, said).await)
}

async fn say(store: &Arc<dyn Store>, id: ConversationId, said: &[&str]) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for text in said {
        ids.push(store.append(id, user(text)).await.unwrap().id);
    }
    ids
}

async fn fork(store: &Arc<dyn Store>, from: ConversationId, at: Point) -> ConversationId {
    store.fork(from, at, Details::default()).await.unwrap().id
}

pub(crate) async fn forks_share_their_messages(store: Arc<dyn Store>) {
    let details = Details::default().title("Root").system("Be brief.").model(ModelChoice::new("p", "m"));
    let root = store.create(details).await.unwrap();
    let ids = say(&store, root.id, &["a", "b", "c"]).await;
    let fork = store.fork(root.id, Point::After(ids[1]), Details::default()).await.unwrap();
    assert_eq!(fork.parent, Some(Parent { conversation: root.id, message: Some(ids[1]) }));
    assert_eq!((fork.title.as_deref(), &fork.system), (Some("Root"), &root.system));
    assert_eq!((&fork.model, fork.messages), (&root.model, 2));
    let other = Details::default().title("Other").model(ModelChoice::new("q", "n"));
    let before = store.fork(root.id, Point::Before(ids[1]), other).await.unwrap();
    assert_eq!(
        (before.title.as_deref(), before.model, before.messages),
        (Some("Other"), ModelChoice::new("q", "n"), 1)
    );

    say(&store, fork.id, &["x"]).await;
    say(&store, before.id, &["y"]).await;
    say(&store, root.id, &["d"]).await;
    assert_eq!(texts(&store, root.id).await, ["a", "b", "c", "d"]);
    assert_eq!(texts(&store, fork.id).await, ["a", "b", "x"]);
    assert_eq!(texts(&store, before.id).await, ["a", "y"]);
    // The very same rows.
    assert_eq!(store.thread(fork.id).await.unwrap()[..2], store.thread(root.id).await.unwrap()[..2]);
    assert_eq!(store.stats().await.unwrap().messages, 6);

    let end = store.fork(root.id, Point::End, Details::default()).await.unwrap();
    let start = store.fork(root.id, Point::Start, Details::default()).await.unwrap();
    assert_eq!((end.messages, start.messages), (4, 0));
    assert_eq!(start.parent, Some(Parent { conversation: root.id, message: None }));
    assert_eq!(store.stats().await.unwrap().messages, 6);
}

pub(crate) async fn deleting_leaves_forks_whole(store: Arc<dyn Store>) {
    let (root, ids) = chat(&store, &["a", "b", "c", "d"]).await;
    let long = fork(&store, root, Point::After(ids[2])).await;
    let short = fork(&store, root, Point::After(ids[0])).await;
    let apart = fork(&store, root, Point::Start).await;
    say(&store, long, &["long"]).await;
    say(&store, short, &["short"]).await;
    store.delete(root).await.unwrap();
    assert_eq!(texts(&store, long).await, ["a", "b", "c", "long"]);
    assert_eq!(texts(&store, short).await, ["a", "short"]);
    assert_eq!(texts(&store, apart).await, Vec::<String>::new());
    // Only "d" is gone; the fork that shares the most has taken the rest.
    assert_eq!(store.stats().await.unwrap().messages, 5);
    assert_eq!(store.conversation(long).await.unwrap().parent, None);
    assert_eq!(store.conversation(apart).await.unwrap().parent, None);
    let parent = store.conversation(short).await.unwrap().parent;
    assert_eq!(parent, Some(Parent { conversation: long, message: Some(ids[0]) }));
    store.delete(long).await.unwrap();
    assert_eq!(texts(&store, short).await, ["a", "short"]);
    store.delete(short).await.unwrap();
    assert_eq!(store.stats().await.unwrap().messages, 0);
}

pub(crate) async fn undoing_leaves_forks_whole(store: Arc<dyn Store>) {
    let (root, ids) = chat(&store, &["a", "b", "c", "d"]).await;
    let long = fork(&store, root, Point::End).await;
    let short = fork(&store, root, Point::After(ids[1])).await;
    assert_eq!(store.truncate(root, Point::Before(ids[1])).await.unwrap(), 3);
    assert_eq!(texts(&store, root).await, ["a"]);
    assert_eq!(texts(&store, long).await, ["a", "b", "c", "d"]);
    assert_eq!(texts(&store, short).await, ["a", "b"]);
    assert_eq!(store.stats().await.unwrap().messages, 4);
    say(&store, root, &["B"]).await;
    assert_eq!(texts(&store, root).await, ["a", "B"]);
    assert_eq!(texts(&store, long).await, ["a", "b", "c", "d"]);

    // Back into what it shares itself, and on from there.
    assert_eq!(store.truncate(long, Point::After(ids[0])).await.unwrap(), 3);
    say(&store, long, &["L"]).await;
    assert_eq!(texts(&store, long).await, ["a", "L"]);
    assert_eq!(texts(&store, short).await, ["a", "b"]);
    assert_eq!(store.truncate(short, Point::Start).await.unwrap(), 2);
    assert_eq!(texts(&store, short).await, Vec::<String>::new());
    assert_eq!(store.truncate(short, Point::End).await.unwrap(), 0);
    assert_eq!(texts(&store, root).await, ["a", "B"]);
    assert_eq!(store.stats().await.unwrap().messages, 3);
}

pub(crate) async fn forks_of_forks(store: Arc<dyn Store>) {
    let (root, ids) = chat(&store, &["a", "b"]).await;
    let child = fork(&store, root, Point::End).await;
    let own = say(&store, child, &["c"]).await;
    let grandchild = fork(&store, child, Point::After(own[0])).await;
    say(&store, grandchild, &["d"]).await;
    // At a message of the root: the owner of that message is the parent.
    let cousin = store.fork(grandchild, Point::After(ids[0]), Details::default()).await.unwrap();
    assert_eq!(cousin.parent, Some(Parent { conversation: root, message: Some(ids[0]) }));
    assert_eq!(texts(&store, grandchild).await, ["a", "b", "c", "d"]);
    store.delete(child).await.unwrap();
    assert_eq!(texts(&store, grandchild).await, ["a", "b", "c", "d"]);
    store.truncate(root, Point::Start).await.unwrap();
    assert_eq!(texts(&store, grandchild).await, ["a", "b", "c", "d"]);
    assert_eq!(texts(&store, cousin.id).await, ["a"]);
    store.delete(grandchild).await.unwrap();
    assert_eq!(texts(&store, cousin.id).await, ["a"]);
    assert_eq!(store.stats().await.unwrap().messages, 1);
}

pub(crate) async fn points_must_be_in_the_conversation(store: Arc<dyn Store>) {
    let (root, ids) = chat(&store, &["a", "b"]).await;
    let child = fork(&store, root, Point::After(ids[0])).await;
    let (_, foreign) = chat(&store, &["x"]).await;
    for (id, message) in [(root, foreign[0]), (child, ids[1]), (child, MessageId::new())] {
        for point in [Point::Before(message), Point::After(message)] {
            let expected = format!("there is no message {message} in this conversation");
            let error = store.fork(id, point, Details::default()).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound, expected.as_str()));
            let error = store.truncate(id, point).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound, expected.as_str()));
        }
    }
    assert_eq!(texts(&store, root).await, ["a", "b"]);
}

pub(crate) async fn families(store: Arc<dyn Store>) {
    let (root, _) = chat(&store, &["a"]).await;
    let child = fork(&store, root, Point::End).await;
    let grandchild = fork(&store, child, Point::End).await;
    let apart = fork(&store, root, Point::Start).await;
    let (stranger, _) = chat(&store, &["b"]).await;
    for id in [root, child, grandchild, apart] {
        let family = store.family(id).await.unwrap();
        assert_eq!(family.iter().map(|one| one.id).collect::<Vec<_>>(), [root, child, grandchild, apart]);
    }
    assert_eq!(store.family(stranger).await.unwrap().len(), 1);
}

/// Random histories, compared with a model in which every conversation is a separate list.
pub(crate) async fn any_history_is_kept_right(store: Arc<dyn Store>) {
    let mut dice = Dice(setting("IKIGAI_STORE_SEED", 20_251_115) as u64);
    let mut model: BTreeMap<ConversationId, Vec<(MessageId, String)>> = BTreeMap::new();
    for step in 0..setting("IKIGAI_STORE_STEPS", 150) {
        let ids: Vec<ConversationId> = model.keys().copied().collect();
        let id = ids.get(dice.below(ids.len())).copied();
        match (dice.below(10), id) {
            (0, _) | (_, None) => {
                let made = store.create(Details::default()).await.unwrap();
                model.insert(made.id, Vec::new());
            }
            (1..=4, Some(id)) => {
                let text = format!("message {step}");
                let mut entry = if dice.below(2) == 0 { user(&text) } else { assistant(&text) };
                if dice.below(8) == 0 {
                    entry.message.content.push(picture(dice.below(3) as u8, 5000));
                }
                let stored = store.append(id, entry).await.unwrap();
                model.get_mut(&id).unwrap().push((stored.id, text));
            }
            (5..=6, Some(id)) => {
                let (point, kept) = point(&mut dice, &model[&id]);
                let fork = store.fork(id, point, Details::default()).await.unwrap();
                let shared = model[&id][..kept].to_vec();
                model.insert(fork.id, shared);
            }
            (7..=8, Some(id)) => {
                let (point, kept) = point(&mut dice, &model[&id]);
                let gone = store.truncate(id, point).await.unwrap();
                let own = model.get_mut(&id).unwrap();
                assert_eq!(gone as usize, own.len() - kept, "step {step}");
                own.truncate(kept);
            }
            (_, Some(id)) => {
                store.delete(id).await.unwrap();
                model.remove(&id);
            }
        }
        for (id, expected) in &model {
            let thread = store.thread(*id).await.unwrap();
            let found: Vec<(MessageId, String)> =
                thread.iter().map(|stored| (stored.id, stored.entry.message.text())).collect();
            assert_eq!(&found, expected, "step {step}");
        }
        // Nothing unused is left behind, and nothing is there twice.
        let alive: std::collections::BTreeSet<MessageId> = model.values().flatten().map(|(id, _)| *id).collect();
        let stats = store.stats().await.unwrap();
        assert_eq!((stats.messages, stats.conversations), (alive.len() as u64, model.len() as u64), "step {step}");
    }
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

/// A random point in a conversation, and the number of messages before it.
fn point(dice: &mut Dice, messages: &[(MessageId, String)]) -> (Point, usize) {
    match (dice.below(6), messages.len()) {
        (0, _) | (_, 0) => (Point::Start, 0),
        (1, length) => (Point::End, length),
        (2..=3, length) => {
            let at = dice.below(length);
            (Point::Before(messages[at].0), at)
        }
        (_, length) => {
            let at = dice.below(length);
            (Point::After(messages[at].0), at + 1)
        }
    }
}
