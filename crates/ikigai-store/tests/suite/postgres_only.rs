//! What only a server can do.

use std::sync::Arc;

use ikigai_store::{Details, ErrorKind, Listing, Postgres, Search, Store};
use pretty_assertions::assert_eq;

use crate::support::sample::user;
use crate::support::server::Server;

pub(crate) async fn all(server: &Server) {
    programs_that_start_at_once_make_the_tables_once(server).await;
    an_old_database_is_migrated(server).await;
    a_newer_database_is_refused(server).await;
    a_foreign_schema_is_refused(server).await;
    lost_connections_are_made_again(server).await;
    what_cannot_be_reached_is_told(server).await;
    encrypted_connections(server).await;
}

async fn programs_that_start_at_once_make_the_tables_once(server: &Server) {
    let url = server.database().await;
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { Postgres::open(&url).await.unwrap().list(Listing::default()).await.unwrap() })
        })
        .collect();
    for one in opening {
        assert_eq!(one.await.unwrap().conversations, []);
    }
    server.drop_database(&url).await;
}

async fn an_old_database_is_migrated(server: &Server) {
    let url = server.database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    let first = include_str!("../../migrations/postgres/1_conversations.sql");
    let rows = include_str!("../support/version_1.sql");
    let sql = format!(
        "CREATE SCHEMA ikigai; SET search_path TO ikigai; CREATE TABLE migrations (version bigint PRIMARY KEY, \
         name text NOT NULL, applied text NOT NULL); INSERT INTO migrations VALUES (1, 'conversations', 'then'); \
         {first} {rows}"
    );
    server.sql(name, &sql).await;
    let store = Postgres::open(&url).await.unwrap();
    let hits = store.search(Search::new("sky")).await.unwrap();
    assert_eq!(hits.len(), 2, "{hits:?}");
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    let chat = hits[0].conversation;
    store.append(chat, user("And the sea?")).await.unwrap();
    assert_eq!(store.thread(chat).await.unwrap().len(), 3);
    drop(store);
    server.drop_database(&url).await;
}

async fn a_newer_database_is_refused(server: &Server) {
    let url = server.database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    Postgres::open(&url).await.unwrap();
    server.sql(name, "INSERT INTO ikigai.migrations VALUES (99, 'from the future', 'then')").await;
    let error = Postgres::open(&url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Newer);
    let said = error.to_string();
    assert!(said.contains("its schema is version 99, this program knows up to 3. Update ikigai"), "{said}");
    server.drop_database(&url).await;
}

async fn a_foreign_schema_is_refused(server: &Server) {
    let url = server.database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    server.sql(name, "CREATE SCHEMA ikigai; CREATE TABLE ikigai.gardens (n int)").await;
    assert_eq!(Postgres::open(&url).await.unwrap_err().kind(), ErrorKind::Foreign);
    server.sql(name, "SELECT n FROM ikigai.gardens").await;
    server.drop_database(&url).await;
}

async fn lost_connections_are_made_again(server: &Server) {
    let url = server.database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    let store: Arc<dyn Store> = Arc::new(Postgres::open(&url).await.unwrap());
    let chat = store.create(Details::default()).await.unwrap().id;
    for round in 0..5 {
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        );
        server.sql("postgres", &sql).await;
        store.append(chat, user(&round.to_string())).await.unwrap();
        store.thread(chat).await.unwrap();
    }
    assert_eq!(store.thread(chat).await.unwrap().len(), 5);
    drop(store);
    server.drop_database(&url).await;
}

async fn what_cannot_be_reached_is_told(server: &Server) {
    let missing = Postgres::open(&server.url("no_such_database")).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Unreachable);
    assert!(missing.message().contains("database \"no_such_database\" does not exist"), "{missing}");
    let closed = Postgres::open("postgres://me:secret@127.0.0.1:1/x").await.unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::Unreachable);
    assert_eq!(closed.place(), Some("postgres://me@127.0.0.1:1/x"));
    assert!(!format!("{closed:?} {closed}").contains("secret"), "{closed:?}");
}

/// The server's certificate is vouched for only by the file next to it.
async fn encrypted_connections(server: &Server) {
    let certificate = server.folder.as_ref().map(|folder| folder.join("server.crt")).filter(|file| file.exists());
    let Some(certificate) = certificate else {
        eprintln!("NOT RUN: encrypted connections, because the server has no certificate of ours");
        return;
    };
    let url = server.database().await;
    let encrypted = format!("{url}?sslmode=require");
    let refused = Postgres::open(&encrypted).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unreachable);
    // A separate process: the variable applies to all threads of this one.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "suite::postgres_only::encrypted_child", "--ignored", "--nocapture"])
        .env("SSL_CERT_FILE", certificate)
        .env("IKIGAI_STORE_URL", &encrypted)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"), "the child found no test to run");
    server.drop_database(&url).await;
}

#[test]
#[ignore = "started by the test of encrypted connections"]
fn encrypted_child() {
    let url = std::env::var("IKIGAI_STORE_URL").unwrap();
    crate::support::wait(async {
        let store = Postgres::open(&url).await.unwrap();
        let chat = store.create(Details::default()).await.unwrap();
        assert_eq!(store.conversation(chat.id).await.unwrap(), chat);
        // The server itself says whether it was encrypted.
        let sql = "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE s.ssl \
             AND a.application_name = 'ikigai') THEN RAISE 'not encrypted'; END IF; END $$";
        let plain = url.replace("?sslmode=require", "?sslmode=disable");
        let (client, connection) = tokio_postgres::connect(&plain, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
    });
}
