//! A real PostgreSQL server: the one that `IKIGAI_TEST_POSTGRES` names, or one started from the system's packages.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server, and how to make databases on it.
pub(crate) struct Server {
    url: String,
    /// The folder of a server that we started.
    pub(crate) folder: Option<PathBuf>,
    /// Stops the server when we end, in whatever way.
    guard: Option<Child>,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/postgres")
}

impl Server {
    /// Finds the server, or returns `None` with a message if there is no PostgreSQL. If `IKIGAI_TEST_POSTGRES` is
    /// `required`, that is a failure.
    pub(crate) fn find() -> Option<Server> {
        let named = std::env::var("IKIGAI_TEST_POSTGRES").ok();
        let required = named.as_deref() == Some("required");
        if let Some(url) = named.filter(|_| !required) {
            // The script puts it there.
            let folder = std::env::var("IKIGAI_TEST_POSTGRES_FOLDER").ok().map(PathBuf::from);
            return Some(Server { url, folder, guard: None });
        }
        let installed = std::fs::read_dir("/usr/lib/postgresql")
            .is_ok_and(|versions| versions.flatten().any(|version| version.path().join("bin/initdb").exists()));
        if !installed {
            assert!(!required, "PostgreSQL is missing: run tests/postgres install");
            eprintln!("NOT RUN: the tests on PostgreSQL, because it is missing; tests/postgres install brings it");
            return None;
        }
        let started = Command::new(script()).arg("start").stderr(Stdio::inherit()).output().unwrap();
        assert!(started.status.success(), "tests/postgres start failed");
        let said = String::from_utf8(started.stdout).unwrap();
        let (folder, url) = said.trim().split_once(' ').unwrap();
        let guard = Command::new(script())
            .args(["guard", folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Some(Server { url: url.to_owned(), folder: Some(folder.into()), guard: Some(guard) })
    }

    /// The URL of one of its databases.
    pub(crate) fn url(&self, database: &str) -> String {
        let (server, _) = self.url.rsplit_once('/').unwrap();
        format!("{server}/{database}")
    }

    /// Creates an empty database and returns its URL.
    pub(crate) async fn database(&self) -> String {
        let name = format!("ikigai_{}", ikigai_store::MessageId::new().to_string().replace('-', "_"));
        self.sql("postgres", &format!("CREATE DATABASE {name}")).await;
        self.url(&name)
    }

    pub(crate) async fn drop_database(&self, url: &str) {
        let (_, name) = url.rsplit_once('/').unwrap();
        self.sql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }

    /// Runs statements in a database.
    pub(crate) async fn sql(&self, database: &str, sql: &str) {
        let (client, connection) = tokio_postgres::connect(&self.url(database), tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}
