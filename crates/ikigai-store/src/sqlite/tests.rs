use std::path::Path;
use std::sync::Arc;

use ikigai_core::{Message, Role};
use pretty_assertions::assert_eq;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::{Details, ErrorKind, Listing, Point, Search, Store};

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ikigai.db");
    (folder, path)
}

fn opening(path: &Path) -> Error {
    wait(Sqlite::open(path)).unwrap_err()
}

fn user(text: &str) -> crate::Entry {
    Message::new(Role::User, text).into()
}

/// All bytes of all files in a folder, by name.
fn bytes(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

fn holds(files: &[(String, Vec<u8>)], text: &str) -> Vec<String> {
    let inside = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files.iter().filter(|(_, bytes)| inside(bytes)).map(|(name, _)| name.clone()).collect()
}

#[test]
fn sqlite_is_new_enough() {
    // Older versions can damage a database in WAL mode when several programs write to it.
    assert!(rusqlite::version_number() >= 3_051_003, "SQLite {} is too old", rusqlite::version());
}

#[test]
fn the_database_is_set_up_as_it_should_be() {
    let (_folder, path) = folder();
    let store = wait(Sqlite::open(&path)).unwrap();
    let asked = [
        ("journal_mode", "wal"),
        ("foreign_keys", "1"),
        ("synchronous", "2"),
        ("secure_delete", "1"),
        ("auto_vacuum", "2"),
        ("busy_timeout", "30000"),
        ("application_id", "1768647015"),
        ("user_version", "3"),
    ];
    for pool in [&store.writer, store.reading()] {
        for (name, expected) in asked {
            let found = wait(pool.run(move |worker| {
                let read = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
                worker.connection()?.query_row(&format!("PRAGMA {name}"), [], read).map_err(session::fault)
            }));
            let found = match found.unwrap() {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            };
            assert_eq!((name, found.as_str()), (name, expected));
        }
    }
    // A reader cannot write, whatever it is asked.
    let written = wait(
        store.reading().run(|worker| worker.connection()?.execute("DELETE FROM messages", []).map_err(session::fault)),
    );
    assert_eq!(written.unwrap_err().kind(), ErrorKind::Access);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/ikigai.db");
    let store = wait(Sqlite::open(&path)).unwrap();
    wait(store.create(Details::default())).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for name in ["ikigai.db", "ikigai.db-wal", "ikigai.db-shm"] {
        assert_eq!((name, mode(&path.with_file_name(name))), (name, 0o600));
    }
}

#[test]
fn a_newer_database_is_refused() {
    let (folder, path) = folder();
    let store = wait(Sqlite::open(&path)).unwrap();
    wait(store.create(Details::default())).unwrap();
    wait(store.close()).unwrap();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let before = bytes(&folder);
    let error = opening(&path);
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert_eq!(
        error.to_string(),
        format!(
            "{}: a newer ikigai made this database: its schema is version 7, this program knows up to 3. Update ikigai, \
             or choose another database. Nothing was changed.",
            path.display()
        )
    );
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_database_that_becomes_newer_is_not_written_to() {
    let (_folder, path) = folder();
    let store = wait(Sqlite::open(&path)).unwrap();
    wait(store.create(Details::default())).unwrap();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    assert_eq!(wait(store.create(Details::default())).unwrap_err().kind(), ErrorKind::Newer);
}

#[test]
fn the_database_of_another_program_is_refused() {
    let (folder, path) = folder();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE gardens (n)").unwrap();
    let before = bytes(&folder);
    let error = opening(&path);
    assert_eq!((error.kind(), error.message()), (ErrorKind::Foreign, "this is the database of another program"));
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_damaged_file_is_told_and_left_alone() {
    let (folder, path) = folder();
    std::fs::write(&path, "not a database, but someone's notes\n".repeat(100)).unwrap();
    let before = bytes(&folder);
    let error = opening(&path);
    assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, "file is not a database"));
    assert!(error.to_string().contains("Nothing was overwritten."), "{error}");
    assert_eq!(bytes(&folder), before);
}

/// A database with something in it, closed.
fn filled(path: &Path) {
    wait(async {
        let store = Sqlite::open(path).await.unwrap();
        for number in 0..20 {
            let chat = store.create(Details::default()).await.unwrap().id;
            store.append(chat, user(&format!("question {number} {}", "lorem ipsum ".repeat(200)))).await.unwrap();
        }
        store.close().await.unwrap();
    });
}

#[test]
fn damage_in_the_middle_is_told_and_left_alone() {
    let (folder, path) = folder();
    filled(&path);
    let mut damaged = std::fs::read(&path).unwrap();
    let pages = damaged.len() / 4096;
    for page in 3..pages {
        damaged[page * 4096..page * 4096 + 64].fill(0xA5);
    }
    std::fs::write(&path, &damaged).unwrap();
    let before = bytes(&folder);
    let told: Vec<ErrorKind> = match wait(Sqlite::open(&path)) {
        Err(error) => vec![error.kind()],
        Ok(store) => wait(async {
            let health = store.check().await;
            let told = vec![
                store.list(Listing::default()).await.map_or_else(|error| error.kind(), |_| ErrorKind::Internal),
                store.create(Details::default()).await.map_or_else(|error| error.kind(), |_| ErrorKind::Internal),
            ];
            assert!(health.is_err() || !health.unwrap().is_well());
            store.close().await.unwrap();
            told
        }),
    };
    assert!(told.iter().all(|kind| *kind == ErrorKind::Corrupt), "{told:?}");
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_changed_message_and_a_changed_attachment_are_found_by_the_check() {
    let (_folder, path) = folder();
    let problems = wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        let root = store.create(Details::default()).await.unwrap().id;
        let source = ikigai_core::Source::Text { media_type: "text/plain".into(), text: "x".repeat(5000) };
        let file = ikigai_core::Document::new(source);
        let first =
            store.append(root, Message::new(Role::User, ikigai_core::Block::Document(file)).into()).await.unwrap();
        let second = store.append(root, user("b")).await.unwrap();
        let third = store.append(root, user("c")).await.unwrap();
        let fork = store.fork(root, Point::After(second.id), Details::default()).await.unwrap();
        let raw = Connection::open(&path).unwrap();
        let id = third.id.to_string();
        raw.execute("UPDATE messages SET body = 'nonsense' WHERE id = ?1", [&id]).unwrap();
        raw.execute("UPDATE blobs SET bytes = zeroblob(3)", []).unwrap();
        raw.execute("DELETE FROM messages WHERE id = ?1", [second.id.to_string()]).unwrap();
        let health = store.check().await.unwrap();
        let error = store.message(third.id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().starts_with(&format!("message {id} cannot be read: ")), "{error}");
        let names =
            [(root.to_string(), "ROOT"), (fork.id.to_string(), "FORK"), (id, "THIRD"), (first.id.to_string(), "FIRST")];
        let named = |text: String| names.iter().fold(text, |text, (id, name)| text.replace(id, name));
        health.problems.into_iter().map(named).collect::<Vec<_>>()
    });
    assert_eq!(
        problems,
        [
            "conversation FORK: the message that it was forked at is missing",
            "conversation ROOT: messages are missing",
            "message THIRD cannot be read: expected ident at line 1 column 2",
            "attachment c59d3c0480cc2d71d8f646e735e92da65450311eec46e81a5db8c7e6e8a92054: its bytes have changed",
        ]
    );
}

#[test]
fn a_log_without_its_database_is_not_thrown_away() {
    let (folder, path) = folder();
    std::fs::write(path.with_file_name("ikigai.db-wal"), vec![1; 5000]).unwrap();
    let error = opening(&path);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("ikigai.db-wal holds changes to it: it was lost or emptied"), "{error}");
    assert!(bytes(&folder).contains(&("ikigai.db-wal".to_owned(), vec![1; 5000])));
}

#[test]
fn an_old_database_is_migrated() {
    let (_folder, path) = folder();
    let mut old = Connection::open(&path).unwrap();
    migrate::migrate(&mut old, &crate::migrations::SQLITE[..1], 0x696B_6967).unwrap();
    old.execute_batch(include_str!("../../tests/support/version_1.sql")).unwrap();
    drop(old);
    wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        let hits = store.search(Search::new("sky")).await.unwrap();
        assert_eq!(hits.len(), 2);
        store.append(hits[0].conversation, user("And the sea?")).await.unwrap();
        assert_eq!(store.thread(hits[0].conversation).await.unwrap().len(), 3);
        let health = store.check().await.unwrap();
        assert_eq!((health.schema, health.problems), (3, Vec::new()));
    });
    let applied: Vec<(i64, String)> = {
        let raw = Connection::open(&path).unwrap();
        let mut statement = raw.prepare("SELECT version, name FROM migrations ORDER BY version").unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(|row| row.unwrap()).collect()
    };
    assert_eq!(applied, [(1, "conversations".to_owned()), (2, "search".to_owned()), (3, "created".to_owned())]);
}

#[test]
fn a_migration_that_fails_leaves_the_database_as_it_was() {
    let (_folder, path) = folder();
    filled(&path);
    let mut connection = Connection::open(&path).unwrap();
    let broken = crate::migrations::Migration {
        version: 4,
        name: "broken",
        sql: "DELETE FROM messages; CREATE TABLE half (n); SELECT nonsense FROM nowhere;",
        then: crate::migrations::Then::Nothing,
    };
    let mut steps = crate::migrations::SQLITE.to_vec();
    steps.push(broken);
    let error = migrate::migrate(&mut connection, &steps, 0x696B_6967).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Internal, "no such table: nowhere"));
    drop(connection);
    let store = wait(Sqlite::open(&path)).unwrap();
    assert_eq!(wait(store.stats()).unwrap().messages, 20);
}

#[test]
fn programs_that_start_at_once_make_one_database() {
    for _ in 0..5 {
        let (_folder, path) = folder();
        let start = Arc::new(std::sync::Barrier::new(8));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (path, start) = (path.clone(), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    wait(async {
                        let store = Sqlite::open(&path).await.unwrap();
                        store.create(Details::default()).await.unwrap();
                        store.close().await.unwrap();
                    });
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let store = wait(Sqlite::open(&path)).unwrap();
        assert_eq!(wait(store.stats()).unwrap().conversations, 8);
    }
}

#[test]
fn what_is_deleted_is_gone_from_the_files() {
    let (folder, path) = folder();
    wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        let kept = store.create(Details::default()).await.unwrap().id;
        store.append(kept, user("keepsake")).await.unwrap();
        let chat = store.create(Details::default().title("Xylophone")).await.unwrap().id;
        // Long enough for its own pages, its own index entry, and an attachment.
        store.append(chat, user(&"Quetzalcoatl went to Popocatepetl. ".repeat(500))).await.unwrap();
        let text = "Huitzilopochtli ".repeat(900);
        let source = ikigai_core::Source::Text { media_type: "text/plain".into(), text };
        let message = Message::new(Role::User, ikigai_core::Block::document(source, "Tenochtitlan.txt"));
        store.append(chat, message.into()).await.unwrap();
        let first = store.append(kept, user("Mictlantecuhtli")).await.unwrap();
        let secrets = [
            "Quetzalcoatl",
            "quetzalcoatl",
            "popocatepetl",
            "Huitzilopochtli",
            "Tenochtitlan",
            "tenochtitlan",
            "Xylophone",
            "xylophone",
            "Mictlantecuhtli",
            "mictlantecuhtli",
        ];
        for secret in secrets {
            assert_ne!(holds(&bytes(&folder), secret), Vec::<String>::new(), "{secret} was never there");
        }
        let before = store.stats().await.unwrap().size;
        store.delete(chat).await.unwrap();
        store.truncate(kept, Point::Before(first.id)).await.unwrap();
        // While the store is still open.
        let files = bytes(&folder);
        for secret in secrets {
            assert_eq!((secret, holds(&files, secret)), (secret, Vec::new()));
        }
        assert_ne!(holds(&files, "keepsake"), Vec::<String>::new());
        assert!(store.stats().await.unwrap().size < before);
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    });
}

#[test]
fn a_reader_elsewhere_only_delays_the_scrubbing() {
    let (folder, path) = folder();
    wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        let chat = store.create(Details::default().title("Xylophone")).await.unwrap().id;
        // Another program in the middle of reading.
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN").unwrap();
        let count: i64 = other.query_row("SELECT count(*) FROM conversations", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        store.delete(chat).await.unwrap();
        assert_ne!(holds(&bytes(&folder), "Xylophone"), Vec::<String>::new());
        other.execute_batch("COMMIT").unwrap();
        store.set("anything", 1.into()).await.unwrap();
        assert_eq!(holds(&bytes(&folder), "Xylophone"), Vec::<String>::new());

        // If no write follows, closing does it, although the other program still has the file open.
        let chat = store.create(Details::default().title("Glockenspiel")).await.unwrap().id;
        other.execute_batch("BEGIN; SELECT count(*) FROM conversations").unwrap();
        store.delete(chat).await.unwrap();
        assert_ne!(holds(&bytes(&folder), "Glockenspiel"), Vec::<String>::new());
        other.execute_batch("COMMIT").unwrap();
        store.close().await.unwrap();
        assert_eq!(holds(&bytes(&folder), "Glockenspiel"), Vec::<String>::new());
        drop(other);
    });
}

#[test]
fn a_backup_is_a_database_of_its_own() {
    let (folder, path) = folder();
    filled(&path);
    let copy = folder.path().join("copy.db");
    wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        store.backup(&copy).await.unwrap();
        let error = store.backup(&copy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Access);
        let copied = Sqlite::open(&copy).await.unwrap();
        assert_eq!(copied.outline().await.unwrap(), store.outline().await.unwrap());
        assert!(copied.check().await.unwrap().is_well());
        assert_eq!(copied.search(Search::new("lorem")).await.unwrap().len(), 20);
    });
}

#[test]
fn a_place_that_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = opening(folder.path());
    assert_eq!(error.kind(), ErrorKind::Access);
    assert_eq!(error.place(), Some(folder.path().to_str().unwrap()));
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = opening(&file.join("ikigai.db"));
    assert_eq!(error.kind(), ErrorKind::Access);
    assert!(error.message().starts_with("the folder cannot be created: "), "{error}");
}

#[test]
fn names_of_databases() {
    let (_folder, path) = folder();
    let path = path.to_str().unwrap();
    wait(async {
        for name in [path.to_owned(), format!("sqlite:{path}"), format!("sqlite://{path}"), format!(" {path}\n")] {
            assert_eq!(crate::open(&name).await.unwrap().place(), path);
        }
        assert_eq!(crate::open(":memory:").await.unwrap().place(), "memory");
        for name in ["", "  ", "mysql://localhost/x"] {
            assert_eq!(crate::open(name).await.unwrap_err().kind(), ErrorKind::Invalid, "{name}");
        }
    });
}

#[test]
fn work_that_nobody_waits_for_is_done_all_the_same() {
    let (_folder, path) = folder();
    wait(async {
        let store = Sqlite::open(&path).await.unwrap();
        {
            let mut writing = store.create(Details::default().title("kept"));
            let _ = std::future::poll_fn(|context| {
                let _ = writing.as_mut().poll(context);
                std::task::Poll::Ready(())
            })
            .await;
        }
        store.close().await.unwrap();
        let again = Sqlite::open(&path).await.unwrap();
        assert_eq!(again.stats().await.unwrap().conversations, 1);
    });
}
