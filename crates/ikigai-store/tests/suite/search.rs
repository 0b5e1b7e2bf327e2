//! Searching.

use std::sync::Arc;

use ikigai_core::{Block, Message, Role};
use ikigai_store::{ConversationId, Details, Entry, ErrorKind, Place, Point, Search, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::{assistant, document, stream, user};

/// What a search finds: the marked snippets.
async fn found(store: &Arc<dyn Store>, search: Search) -> Vec<String> {
    let hits = store.search(search).await.unwrap();
    let marked = hits.into_iter().map(|hit| {
        let mut text = hit.snippet.text;
        for mark in hit.snippet.marks.iter().rev() {
            text.insert(mark.end, ']');
            text.insert(mark.start, '[');
        }
        text
    });
    marked.collect()
}

/// A conversation whose title contains none of the words in it.
async fn chat(store: &Arc<dyn Store>, entries: Vec<Entry>) -> ConversationId {
    let id = store.create(Details::default().title("Untitled")).await.unwrap().id;
    store.append_all(id, entries).await.unwrap();
    id
}

pub(crate) async fn words_phrases_beginnings(store: Arc<dyn Store>) {
    let texts = ["The cat sat on the mat.", "A dog and a cat.", "Catalogue of gpt-5.4", "nothing"];
    chat(&store, texts.iter().map(|text| user(text)).collect()).await;
    let table: &[(&str, &[&str])] = &[
        ("cat", &["The [cat] sat on the mat.", "A dog and a [cat]."]),
        ("CAT mat", &["The [cat] sat on the [mat]."]),
        ("\"the mat\"", &["The cat sat on [the mat]."]),
        ("\"cat the\"", &[]),
        ("cat*", &["The [cat] sat on the mat.", "A dog and a [cat].", "[Catalogue] of gpt-5.4"]),
        ("cat -dog", &["The [cat] sat on the mat."]),
        ("cat -\"on the\"", &["A dog and a [cat]."]),
        ("gpt-5.4", &["Catalogue of [gpt-5.4]"]),
        ("gpt-5.5", &[]),
        ("ca", &[]),
    ];
    for (text, expected) in table {
        let mut hits = found(&store, Search::new(*text)).await;
        hits.sort();
        let mut expected: Vec<String> = expected.iter().map(|hit| (*hit).to_owned()).collect();
        expected.sort();
        assert_eq!(hits, expected, "{text}");
    }
}

pub(crate) async fn prompts_come_before_answers(store: Arc<dyn Store>) {
    let tool = Message::tool_result("c1", "zebra zebra zebra").into();
    let id = chat(&store, vec![tool, assistant("zebra"), user("a very long question about one zebra")]).await;
    let titled = store.create(Details::default().title("The zebra crossing")).await.unwrap();
    let hits = store.search(Search::new("zebra")).await.unwrap();
    let thread = store.thread(id).await.unwrap();
    let seen: Vec<_> = hits.iter().map(|hit| (hit.place, hit.conversation, hit.message)).collect();
    let expected = [
        (Place::Title, titled.id, None),
        (Place::Prompt, id, Some(thread[2].id)),
        (Place::Answer, id, Some(thread[1].id)),
        (Place::Tool, id, Some(thread[0].id)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(hits[1].title.as_deref(), Some("Untitled"));
    assert_eq!((hits[0].created, hits[1].created), (titled.created, thread[2].created));
    // Page by page it is the same list.
    for at in 0..5 {
        let hit = store.search(Search::new("zebra").skip(at).limit(1)).await.unwrap();
        assert_eq!(hit, hits.iter().skip(at as usize).take(1).cloned().collect::<Vec<_>>());
    }
    assert_eq!(store.search(Search::new("zebra").limit(0)).await.unwrap(), []);
}

pub(crate) async fn newest_first(store: Arc<dyn Store>) {
    let first = store.create(Details::default().title("owl one")).await.unwrap();
    store.append(first.id, user("owl two")).await.unwrap();
    let second = store.create(Details::default().title("owl three")).await.unwrap();
    store.append(second.id, assistant("owl four")).await.unwrap();
    let expected = ["[owl] four", "[owl] three", "[owl] two", "[owl] one"];
    assert_eq!(found(&store, Search::new("owl").newest_first()).await, expected);
    assert_eq!(found(&store, Search::new("owl").newest_first().skip(1).limit(2)).await, expected[1..3]);
    let places: Vec<Place> =
        store.search(Search::new("owl").newest_first()).await.unwrap().iter().map(|hit| hit.place).collect();
    assert_eq!(places, [Place::Answer, Place::Title, Place::Prompt, Place::Title]);
}

pub(crate) async fn what_is_deleted_is_not_found(store: Arc<dyn Store>) {
    let count = async |text: &str| store.search(Search::new(text)).await.unwrap().len();
    let id = store.create(Details::default().title("heron")).await.unwrap().id;
    let first = store.append(id, user("heron one")).await.unwrap();
    store.append(id, assistant("heron two")).await.unwrap();
    assert_eq!(count("heron").await, 3);
    store.update(id, Details::default().title("stork")).await.unwrap();
    assert_eq!((count("heron").await, count("stork").await), (2, 1));
    store.truncate(id, Point::After(first.id)).await.unwrap();
    assert_eq!(count("heron").await, 1);
    store.finish(first.id, user("crane")).await.unwrap();
    assert_eq!((count("heron").await, count("crane").await), (0, 1));
    // A message that now belongs to a fork is found there.
    let fork = store.fork(id, Point::End, Details::default().title("fork")).await.unwrap();
    store.delete(id).await.unwrap();
    assert_eq!(store.search(Search::new("crane")).await.unwrap()[0].conversation, fork.id);
    store.delete(fork.id).await.unwrap();
    for text in ["crane", "stork", "heron", "fork"] {
        assert_eq!(count(text).await, 0, "{text}");
    }
}

pub(crate) async fn titles_are_found(store: Arc<dyn Store>) {
    let id = store.create(Details::default()).await.unwrap().id;
    store.append(id, user("How do I prune an apple tree?\nIt is old.")).await.unwrap();
    // The first question is the title as well: both are found.
    let places: Vec<Place> = store.search(Search::new("apple")).await.unwrap().iter().map(|hit| hit.place).collect();
    assert_eq!(places, [Place::Title, Place::Prompt]);
    assert_eq!(found(&store, Search::new("old")).await, ["How do I prune an apple tree? It is [old]."]);
}

pub(crate) async fn every_script_and_no_accents(store: Arc<dyn Store>) {
    let texts = [
        "L'été à Malmö",
        "東京の天気はどうですか",
        "Какая сегодня погода? Ёлка",
        "오늘 날씨가 어때요",
        "आज मौसम कैसा है",
        "ＦＵＬＬ width",
        "Straße",
        "สวัสดีครับ",
        "Ελλάδα",
    ];
    chat(&store, texts.iter().map(|text| user(text)).collect()).await;
    let table = [
        ("ete malmo", "L'[été] à [Malmö]"),
        ("天気", "東京の[天気]はどうですか"),
        ("京の天", "東[京の天]気はどうですか"),
        ("ПОГОДА", "Какая сегодня [погода]? Ёлка"),
        ("елка", "Какая сегодня погода? [Ёлка]"),
        ("날씨*", "오늘 [날씨가] 어때요"),
        ("मौसम", "आज [मौसम] कैसा है"),
        ("full", "[ＦＵＬＬ] width"),
        ("straße", "[Straße]"),
        ("สวัสดี", "[สวัสดี]ครับ"),
        ("ελλαδα", "[Ελλάδα]"),
    ];
    for (text, expected) in table {
        assert_eq!(found(&store, Search::new(text)).await, [expected], "{text}");
    }
}

pub(crate) async fn no_search_is_an_error(store: Arc<dyn Store>) {
    chat(&store, vec![user("it's \"here\" AND there OR NOT NEAR(x, 2) ^y *")]).await;
    for text in [
        "", " ", "\"", "'", "*", "-", "--", "()", "a AND", "NOT", "NEAR(", "^", ":", "{x}:", "\0", "%", "\\", "&|!<->",
        "x:*",
    ] {
        store.search(Search::new(text)).await.unwrap();
    }
    assert_eq!(found(&store, Search::new("it's NEAR(x")).await.len(), 1);
    let error = store.search(Search::new("a ".repeat(100))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

pub(crate) async fn the_better_match_comes_first(store: Arc<dyn Store>) {
    let filler = "other words that say nothing at all ".repeat(30);
    let entries = vec![
        user(&format!("{filler} falcon {filler}")),
        user("falcon falcon falcon, the falcon"),
        user(&format!("{filler} {filler} falcon")),
    ];
    chat(&store, entries).await;
    assert!(found(&store, Search::new("falcon")).await[0].starts_with("[falcon] [falcon]"));
}

pub(crate) async fn attached_texts_are_found(store: Arc<dyn Store>) {
    let text = format!("{} pelican {}", "words ".repeat(1000), "more ".repeat(1000));
    let message = Message::new(Role::User, [Block::text("See the file"), document("report-2026.txt", &text)]);
    chat(&store, vec![message.into()]).await;
    assert_eq!(store.stats().await.unwrap().attachments, 1);
    let hit = found(&store, Search::new("pelican")).await.remove(0);
    assert!(hit.contains("words [pelican] more"), "{hit}");
    assert_eq!(found(&store, Search::new("report-2026.txt")).await.len(), 1);
}

pub(crate) async fn an_answer_is_found_once_it_is_whole(store: Arc<dyn Store>) {
    let id = chat(&store, vec![user("Question")]).await;
    let answer = store.begin(id, Message::new(Role::Assistant, Vec::new())).await.unwrap();
    store.grow(answer, stream(&["ostrich"])).await.unwrap();
    assert_eq!(found(&store, Search::new("ostrich")).await.len(), 0);
    let entry = store.message(answer).await.unwrap().entry;
    store.finish(answer, entry.state(ikigai_store::State::Complete)).await.unwrap();
    assert_eq!(found(&store, Search::new("ostrich")).await, ["[ostrich]"]);
}

pub(crate) async fn long_messages_are_kept_whole(store: Arc<dyn Store>) {
    // More words than PostgreSQL's search can hold, all different, with one known word within reach and one beyond.
    let mut text = String::from("kingfisher ");
    for number in 0..400_000 {
        text.push_str(&format!("w{number:x} "));
    }
    text.push_str("cormorant");
    let id = chat(&store, vec![user(&text)]).await;
    assert_eq!(store.thread(id).await.unwrap()[0].entry.message.text(), text);
    assert_eq!(found(&store, Search::new("kingfisher")).await.len(), 1);
    // The limit that the documentation states.
    assert_eq!(found(&store, Search::new("cormorant")).await.len(), 0);
}
