//! Export and import.

use std::sync::Arc;

use ikigai_core::{Level, Message, Role};
use ikigai_store::{
    Details, Exported, Imported, Listing, ModelChoice, Point, Search, Selection, Sqlite, Store, export, import,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::sample::{assistant, picture, rich, stream, user};

/// Everything as lines, without the header, which contains a time.
async fn lines(store: &dyn Store) -> Vec<String> {
    let mut out = Vec::new();
    export(store, Selection::All, &mut out).await.unwrap();
    String::from_utf8(out).unwrap().lines().skip(1).map(str::to_owned).collect()
}

async fn filled(store: &Arc<dyn Store>) {
    let details = Details::default()
        .title("Root")
        .system("Be brief.")
        .model(ModelChoice::new("p", "m").thinking(Level::High))
        .metadata(json!({"k": "v"}).as_object().cloned().unwrap());
    let root = store.create(details).await.unwrap().id;
    let first = store.append(root, user("a")).await.unwrap();
    store.append(root, rich()).await.unwrap();
    let mut seen = user("see");
    seen.message.content.push(picture(5, 9000));
    store.append(root, seen).await.unwrap();
    let fork = store.fork(root, Point::After(first.id), Details::default().title("Fork")).await.unwrap().id;
    store.append(fork, assistant("b")).await.unwrap();
    let deep = store.fork(fork, Point::End, Details::default()).await.unwrap().id;
    let answer = store.begin(deep, Message::new(Role::Assistant, Vec::new())).await.unwrap();
    store.grow(answer, stream(&["half"])[..3].to_vec()).await.unwrap();
    store.fork(root, Point::Start, Details::default().title("Apart")).await.unwrap();
    store.create(Details::default()).await.unwrap();
    // The heir is younger than the fork whose parent it becomes.
    let (old, messages) = (store.create(Details::default()).await.unwrap().id, ["x", "y"]);
    let mut ids = Vec::new();
    for text in messages {
        ids.push(store.append(old, user(text)).await.unwrap().id);
    }
    store.fork(old, Point::After(ids[0]), Details::default().title("elder")).await.unwrap();
    store.fork(old, Point::End, Details::default().title("younger")).await.unwrap();
    store.delete(old).await.unwrap();
}

pub(crate) async fn out_and_in_again(store: Arc<dyn Store>) {
    filled(&store).await;
    let mut out = Vec::new();
    let exported = export(&*store, Selection::All, &mut out).await.unwrap();
    assert_eq!(exported, Exported { conversations: 7, messages: 7, unreadable: Vec::new() });

    let other = Sqlite::memory().await.unwrap();
    let imported = import(&other, &mut out.as_slice()).await.unwrap();
    assert_eq!(imported, Imported { conversations: 7, messages: 7, already: 0 });
    assert_eq!(lines(&other).await, lines(&*store).await);
    assert_eq!(other.check().await.unwrap().problems, Vec::<String>::new());
    for conversation in store.list(Listing::default()).await.unwrap().conversations {
        assert_eq!(other.conversation(conversation.id).await.unwrap(), conversation);
        assert_eq!(other.thread(conversation.id).await.unwrap(), store.thread(conversation.id).await.unwrap());
    }
    let (there, here) = (other.stats().await.unwrap(), store.stats().await.unwrap());
    assert_eq!((there.attachments, there.partial, there.spent.cost()), (here.attachments, 1, here.spent.cost()));

    // And back into an empty store of the same kind.
    for (id, _) in store.outline().await.unwrap() {
        store.delete(id).await.unwrap();
    }
    assert_eq!(lines(&*store).await, Vec::<String>::new());
    import(&*store, &mut out.as_slice()).await.unwrap();
    assert_eq!(lines(&*store).await, lines(&other).await);
    assert_eq!(store.search(Search::new("younger")).await.unwrap().len(), 1);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub(crate) async fn one_conversation_stands_alone(store: Arc<dyn Store>) {
    let root = store.create(Details::default()).await.unwrap().id;
    store.append_all(root, vec![user("a"), rich()]).await.unwrap();
    let fork = store.fork(root, Point::End, Details::default()).await.unwrap().id;
    store.append(fork, user("b")).await.unwrap();
    let mut out = Vec::new();
    let exported = export(&*store, Selection::One(fork), &mut out).await.unwrap();
    assert_eq!(exported, Exported { conversations: 1, messages: 3, unreadable: Vec::new() });

    let other = Sqlite::memory().await.unwrap();
    import(&other, &mut out.as_slice()).await.unwrap();
    let entries = async |store: &dyn Store| {
        let thread = store.thread(fork).await.unwrap();
        thread.into_iter().map(|stored| (stored.id, stored.entry)).collect::<Vec<_>>()
    };
    assert_eq!(entries(&other).await, entries(&*store).await);
    assert_eq!(other.conversation(fork).await.unwrap().parent, None);

    // If the shared messages are still here under their ids, the conversation gets copies.
    store.delete(fork).await.unwrap();
    import(&*store, &mut out.as_slice()).await.unwrap();
    let texts: Vec<String> =
        store.thread(fork).await.unwrap().iter().map(|stored| stored.entry.message.text()).collect();
    assert_eq!((texts.len(), texts[2].as_str()), (3, "b"));
    assert_eq!(store.thread(root).await.unwrap().len(), 2);
    assert_eq!(store.stats().await.unwrap().messages, 5);
}

pub(crate) async fn importing_twice_changes_nothing(store: Arc<dyn Store>) {
    filled(&store).await;
    let mut out = Vec::new();
    export(&*store, Selection::All, &mut out).await.unwrap();
    let before = lines(&*store).await;
    let again = import(&*store, &mut out.as_slice()).await.unwrap();
    assert_eq!(again, Imported { conversations: 0, messages: 0, already: 7 });
    assert_eq!(lines(&*store).await, before);
}
