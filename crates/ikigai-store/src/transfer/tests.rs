use ikigai_core::catalog::Money;
use ikigai_core::{Block, Citation, CitedSource, FinishReason, FoundSource, Level, Message, Role, Source, Text, Usage};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{Details, Entry, ErrorKind, Sqlite, State, Store};

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

const HEADER: &str = r#"{"type":"ikigai","version":1,"exported":"2026-11-15T10:38:00Z"}"#;

/// A conversation that claims to have this many messages.
fn conversation(messages: usize) -> String {
    format!(
        r#"{{"type":"conversation","id":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58","created":"2026-11-15T10:38:00Z","updated":"2026-11-15T10:38:00Z","model":{{}},"messages":{messages}}}"#
    )
}

const MESSAGE: &str = r#"{"type":"message","id":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d59","created":"2026-11-15T10:38:00Z","updated":"2026-11-15T10:38:00Z","message":{"role":"user","content":"Hello"}}"#;

#[test]
fn lines_look_like_this() {
    let exported = wait(async {
        let store = Sqlite::memory().await.unwrap();
        let lines = format!("\u{FEFF}{HEADER}\r\n\r\n{}\r\n{MESSAGE}", conversation(1));
        let imported = import(&store, &mut lines.as_bytes()).await.unwrap();
        assert_eq!(imported, Imported { conversations: 1, messages: 1, already: 0 });
        let mut out = Vec::new();
        export(&store, Selection::All, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    let lines: Vec<&str> = exported.lines().skip(1).collect();
    let message = MESSAGE
        .replace(r#""message":{"#, r#""state":"complete","message":{"#)
        .replace(r#""Hello""#, r#"[{"type":"text","text":"Hello"}]"#);
    assert_eq!(lines, [conversation(1).as_str(), message.as_str()]);
}

#[test]
fn no_approval_travels_with_a_conversation() {
    let exported = wait(async {
        let store = Sqlite::memory().await.unwrap();
        let line = conversation(0)
            .replace("\"messages\"", r#""metadata":{"permissions":{"shell":"always"},"a":1},"messages""#);
        import(&store, &mut format!("{HEADER}\n{line}").as_bytes()).await.unwrap();
        let kept = store.latest().await.unwrap().unwrap();
        assert_eq!(serde_json::Value::from(kept.metadata.clone()), json!({"a": 1}));
        // One that an older version stored.
        let old = serde_json::from_value(json!({"permissions": {"shell": "always"}})).unwrap();
        store.update(kept.id, Details::default().metadata(old)).await.unwrap();
        let mut out = Vec::new();
        export(&store, Selection::All, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    assert!(!exported.contains("permissions"), "{exported}");
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let one = conversation(1);
    let forked = conversation(0).replace(
        r#""model""#,
        r#""parent":{"conversation":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d00","message":"019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d01"},"model""#,
    );
    let table = [
        ("", "line 1 of the import: the file is empty; an export begins with a header"),
        ("nonsense", "line 1 of the import: expected ident at line 1 column 2"),
        (&one, "line 1 of the import: this is not an export of conversations: the first line must be its header"),
        (
            &HEADER.replace(":1", ":2"),
            "line 1 of the import: the export has version 2, and this program reads up to 1; update ikigai",
        ),
        (&format!("{HEADER}\n{HEADER}"), "line 2 of the import: a line of type `ikigai` has no meaning here"),
        (&format!("{HEADER}\n\n{{\"type\":\"x\"}}"), "line 3 of the import: a line of type `x` has no meaning here"),
        (
            &format!("{HEADER}\n{one}\n"),
            "line 3 of the import: conversation 019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58 has 1 messages, but the file ends here",
        ),
        (
            &format!("{HEADER}\n{one}\n{one}"),
            "line 3 of the import: conversation 019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58 has 1 messages, but this line is not one",
        ),
        (
            &format!("{HEADER}\n{one}\n{}", MESSAGE.replace("user", "nobody")),
            "line 3 of the import: unknown variant `nobody`, expected one of `user`, `assistant`, `tool`, `system` at line 1 column 154",
        ),
        (
            &format!("{HEADER}\n{one}\n{}", &MESSAGE[..100]),
            "line 3 of the import: EOF while parsing a string at line 1 column 100",
        ),
        (
            &format!("{HEADER}\n{forked}"),
            "line 2 of the import: conversation 019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58 was forked from \
             019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d00 at message 019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d01, which is not here; \
             bring that conversation in first",
        ),
    ];
    for (lines, expected) in table {
        wait(async {
            let store = Sqlite::memory().await.unwrap();
            let error = import(&store, &mut lines.as_bytes()).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Import, expected));
            assert_eq!(store.stats().await.unwrap().messages, 0);
        });
    }
    let invalid = [HEADER.as_bytes(), b"\n\xFF\n"].concat();
    let store = wait(Sqlite::memory()).unwrap();
    let error = wait(import(&store, &mut invalid.as_slice())).unwrap_err();
    assert_eq!(error.message(), "line 2 of the import: the line is not UTF-8");
}

#[test]
fn a_reader_that_closes_is_told() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let store = wait(Sqlite::memory()).unwrap();
    let error = wait(export(&store, Selection::All, &mut Closed)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Access);
    // So that a program can stay quiet about it.
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<std::io::Error>());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::BrokenPipe));
}

#[test]
fn what_answers_cite_are_footnotes() {
    let cites = |url: &str, title: &str| {
        let mut citation = Citation::default();
        citation.source = CitedSource::Url { url: url.into(), title: Some(title.into()) };
        citation
    };
    let text = |text: &str, citations: Vec<Citation>| {
        let mut text = Text::new(text);
        text.citations = citations;
        Block::Text(text)
    };
    let (ssb, odd) = (cites("https://www.ssb.no", "SSB [no]\nOslo"), cites("javascript:alert(1)", "Click"));
    let first = Message::new(
        Role::Assistant,
        [text("Oslo", vec![ssb.clone()]), text(" is large.", vec![odd, ssb.clone()]), Block::text(" So there.")],
    );
    let mut second = Message::new(Role::Assistant, [text("Again.\n", vec![ssb])]);
    second.sources = vec![FoundSource::url("https://a.b/c")];
    let text = wait(async {
        let store = Sqlite::memory().await.unwrap();
        let chat = store.create(Details::default()).await.unwrap();
        store.append_all(chat.id, vec![first.into(), second.into()]).await.unwrap();
        markdown(&chat, &store.thread(chat.id).await.unwrap())
    });
    let (_, text) = text.split_once("## Assistant").unwrap();
    assert_eq!(
        text,
        "\n\nOslo[^1] is large.[^1][^2] So there.\n\n## Assistant\n\nAgain.[^1]\n\n\
         Sources:\n\n- [https://a.b/c](<https://a.b/c>)\n\n\
         [^1]: [SSB \\[no\\] Oslo](<https://www.ssb.no>)\n[^2]: Click\n"
    );
}

#[test]
fn markdown_for_people() {
    let notes = Source::Text { media_type: "text/plain".into(), text: "inside".into() };
    let question = Message::new(
        Role::User,
        [
            Block::text("What is in these?\n"),
            Block::image(Source::Base64 { media_type: "image/png".into(), data: "AAAAAA==".into() }),
            Block::image_url("https://example.com/a.png"),
            Block::document(notes, "notes.txt"),
        ],
    );
    let arguments = json!({"path": "/etc/hosts"}).as_object().cloned().unwrap();
    let mut answer = Message::new(
        Role::Assistant,
        [
            Block::thinking("Let me see.\n"),
            Block::thinking(""),
            Block::text("I will look."),
            Block::tool_call("c1", "read_file", arguments),
        ],
    );
    (answer.provider, answer.model) = (Some("anthropic".into()), Some("claude-sonnet-4-5".into()));
    answer.thinking = Some(Level::Med);
    let mut usage = Usage::new(50, 100);
    usage.thinking_tokens = 20;
    let mut answer = Entry::new(answer).usage(usage).cost("0.0045".parse::<Money>().unwrap());
    answer.finish_reason = Some(FinishReason::ToolUse);
    let result = Message::new(Role::Tool, Block::tool_error("c1", "```\n127.0.0.1 localhost\n```"));
    let last = Entry::new(Message::new(Role::Assistant, "It is")).state(State::Cut);
    let text = wait(async {
        let store = Sqlite::memory().await.unwrap();
        let details = Details::default().title("Pictures").system("Be brief.");
        let chat = store.create(details).await.unwrap();
        store.append_all(chat.id, vec![question.into(), answer, result.into(), last]).await.unwrap();
        let text = markdown(&chat, &store.thread(chat.id).await.unwrap());
        text.replace(&chat.created.to_string(), "CREATED").replace(&chat.id.to_string(), "ID")
    });
    insta::assert_snapshot!(text, @r##"
    # Pictures

    *CREATED · ID*

    ## System

    Be brief.

    ## You

    What is in these?

    *[image: image/png, 4 bytes]*

    [image](https://example.com/a.png)

    *[document: notes.txt, text/plain, 6 bytes]*

    ## claude-sonnet-4-5 (anthropic, thinking med)

    <details><summary>Thinking</summary>

    Let me see.

    </details>

    I will look.

    Calls `read_file`:

    ```json
    {
      "path": "/etc/hosts"
    }
    ```

    *tokens: input 50, output 100, thinking 20 · $0.004500*

    ## Tools

    `read_file` fails:

    ````
    ```
    127.0.0.1 localhost
    ```
    ````

    ## Assistant

    It is

    *(cut off)*
    "##);
}
