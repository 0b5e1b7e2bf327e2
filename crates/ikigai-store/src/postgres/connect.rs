//! Opens connections to the database that a URL names.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use super::fault;
use crate::error::{Error, ErrorKind, Result};

/// The most connections.
const CONNECTIONS: usize = 8;
/// How long to wait for the server, and for a connection to become free.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the address of the database as it may be shown, and a pool of connections. Nothing is connected yet.
pub(super) fn pool(url: &str) -> Result<(String, Pool)> {
    let config = config(url)?;
    let place = shown(&config);
    let made = manager(config).and_then(|manager| {
        Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move {
                    // Statements need not name the schema, and nothing waits forever for a lock.
                    let sql = "SET search_path TO ikigai, pg_catalog; SET lock_timeout TO '30s'; \
                         SET idle_in_transaction_session_timeout TO '5min'";
                    client.batch_execute(sql).await.map_err(HookError::Backend)
                })
            }))
            .build()
            .map_err(|error| Error::internal(error.to_string()))
    });
    made.map(|pool| (place.clone(), pool)).map_err(|error| error.at(&place))
}

fn config(url: &str) -> Result<Config> {
    // Here `require` checks the certificate, which is what these two ask for.
    let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        // Not the URL itself: it may contain a password.
        let said = fault::chain(&error);
        let form = "a database is named postgres://user:password@host:port/database";
        Error::invalid(format!("the address of the PostgreSQL database is invalid: {said}; {form}"))
    })?;
    if config.get_hosts().is_empty() {
        config.host("localhost");
    }
    if config.get_application_name().is_none() {
        config.application_name("ikigai");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    Ok(config)
}

/// The address without the password.
fn shown(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let name = match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            };
            let port = config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
            format!("{name}:{port}")
        })
        .collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.join(","))
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn manager(mut config: Config) -> Result<Manager> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    config.ssl_mode(settled(&config));
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(Manager::from_config(config, NoTls, recycling));
    }
    encrypted(config, recycling)
}

/// Either unencrypted or encrypted: never left to someone on the way to decide.
fn settled(config: &Config) -> SslMode {
    // A server on this machine often has a self-signed certificate, and nothing leaves the machine.
    let stays_here = config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(|it| it.is_loopback());
    match config.get_ssl_mode() {
        SslMode::Disable => SslMode::Disable,
        SslMode::Prefer if stays_here => SslMode::Disable,
        SslMode::Prefer | SslMode::Require => SslMode::Require,
        // A foreign enum that may grow: anything new asks for more than the others.
        _ => SslMode::Require,
    }
}

#[cfg(feature = "postgres-tls")]
fn encrypted(config: Config, recycling: ManagerConfig) -> Result<Manager> {
    use std::sync::Arc;

    let unusable = |said: String| Error::new(ErrorKind::Unreachable, said);
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let told = "name a file with certificates in SSL_CERT_FILE, or use sslmode=disable";
        return Err(unusable(format!(
            "there are no certificates on this system to check the server's by{why}; {told}"
        )));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Manager::from_config(config, tokio_postgres_rustls::MakeRustlsConnect::new(client), recycling))
}

#[cfg(not(feature = "postgres-tls"))]
fn encrypted(_: Config, _: ManagerConfig) -> Result<Manager> {
    let told = "this program was built without encrypted connections (the feature `postgres-tls`), which a server on \
        another machine needs; sslmode=disable does without";
    Err(Error::new(ErrorKind::Unreachable, told))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_server_elsewhere_is_spoken_to_in_the_clear_only_when_that_is_said() {
        for (url, mode) in [
            ("postgres://db.example.com/c", SslMode::Require),
            ("postgres://db.example.com/c?sslmode=prefer", SslMode::Require),
            ("postgres://db.example.com/c?sslmode=verify-full", SslMode::Require),
            ("postgres://db.example.com/c?sslmode=disable", SslMode::Disable),
            ("postgres://localhost,db.example.com/c", SslMode::Require),
            ("host=localhost hostaddr=192.0.2.7 user=me", SslMode::Require),
            ("host=localhost hostaddr=127.0.0.1 user=me", SslMode::Disable),
            ("postgres://127.0.0.1/c", SslMode::Disable),
            ("postgres://localhost/c?sslmode=require", SslMode::Require),
            ("postgres:///c?host=/run/postgresql", SslMode::Disable),
        ] {
            assert_eq!(settled(&config(url).unwrap()), mode, "{url}");
        }
    }

    #[test]
    fn the_password_is_never_shown() {
        let table = [
            ("postgres://me:secret@db.example.com:5433/chats", "postgres://me@db.example.com:5433/chats"),
            ("postgresql://me:secret@db.example.com", "postgres://me@db.example.com:5432/me"),
            ("postgres:///chats?user=me&password=secret", "postgres://me@localhost:5432/chats"),
            ("postgres://a,b:7/c?sslmode=verify-full", "postgres://a:5432,b:7/c"),
            ("host=/run/pg user=me password=secret dbname=d", "postgres://me@/run/pg:5432/d"),
        ];
        for (url, place) in table {
            assert_eq!(shown(&config(url).unwrap()), place, "{url}");
        }
        for url in ["postgres://me:secret@db:x/chats", "postgres://me:secret@db/chats?nonsense=1"] {
            let error = config(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(!error.to_string().contains("secret"), "{error}");
            assert!(error.to_string().contains("postgres://user:password@host:port/database"), "{error}");
        }
    }
}
