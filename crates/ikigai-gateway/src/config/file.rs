//! The TOML form of the configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ikigai::config::{Environment, Key};
use ikigai::{Dialect, FileError, Registry};
use ikigai_core::catalog::from_toml;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use toml::Spanned;

use super::secret::{Given, resolve};
use super::{
    Access, ClientKey, Config, ModelSetup, ProviderSetup, ServerLimits, ServerTimeouts, TargetSetup, TlsFiles,
};

/// Returns an example configuration to start from.
pub fn example() -> &'static str {
    include_str!("example.toml")
}

/// The minimum length of a client's key, in characters.
const SHORTEST_KEY: usize = 16;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<Spanned<String>>,
    auth: Auth,
    providers: BTreeMap<Spanned<String>, toml::Table>,
    models: BTreeMap<Spanned<String>, Model>,
    strict: bool,
    attempts: Option<Spanned<u32>>,
    limits: Limits,
    timeouts: Timeouts,
    tls: Option<Tls>,
    cors: Cors,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Auth {
    mode: Option<Spanned<Mode>>,
    keys: Vec<Spanned<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Keys,
    Open,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    targets: Spanned<Vec<Spanned<Target>>>,
    #[serde(default)]
    answer_model: AnswerModel,
    strict: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnswerModel {
    #[default]
    Served,
    Asked,
}

/// A model's name, alone or with the dialect to reach it in.
#[derive(Debug)]
struct Target {
    model: String,
    dialect: Option<Dialect>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    connections: Option<usize>,
    body: Option<usize>,
    bodies: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Timeouts {
    head: Option<Spanned<f64>>,
    body: Option<Spanned<f64>>,
    write: Option<Spanned<f64>>,
    drain: Option<Spanned<f64>>,
    keep_alive: Option<Spanned<f64>>,
    first_byte: Option<Spanned<f64>>,
    idle: Option<Spanned<f64>>,
    state: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    certificate: PathBuf,
    key: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Cors {
    origins: Vec<String>,
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Long {
            model: String,
            dialect: Option<Dialect>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Target;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a model's name, or a table with `model` and `dialect`")
            }

            fn visit_str<E>(self, name: &str) -> Result<Target, E> {
                Ok(Target { model: name.to_owned(), dialect: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Target, A::Error> {
                let Long { model, dialect } = Long::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Target { model, dialect })
            }
        }
        from.deserialize_any(Either)
    }
}

/// The file being read, the environment, and the warnings so far.
struct Reading<'a> {
    file: &'a str,
    text: &'a str,
    environment: &'a Environment,
    warnings: Vec<String>,
}

pub(super) fn read(file: &str, text: &str, environment: &Environment, registry: Registry) -> Result<Config, FileError> {
    let written: File = from_toml(file, text)?;
    let mut reading = Reading { file, text, environment, warnings: Vec::new() };
    let listen = reading.listen(written.listen.as_ref())?;
    let access = reading.access(&written.auth, listen)?;
    let (registry, providers) = reading.providers(written.providers, registry)?;
    let models = reading.models(written.models, &registry)?;
    let limits = written.limits.over(ServerLimits::default());
    let timeouts = reading.timeouts(&written.timeouts)?;
    let attempts = match written.attempts {
        Some(attempts) if !(1..=10).contains(attempts.get_ref()) => {
            return Err(reading.at(attempts.span().start, "attempts", "must be from 1 to 10"));
        }
        Some(attempts) => attempts.into_inner(),
        None => 2,
    };
    Ok(Config {
        listen,
        access,
        registry,
        providers,
        models,
        strict: written.strict,
        limits,
        timeouts,
        attempts,
        tls: written.tls.map(|Tls { certificate, key }| TlsFiles { certificate, key }),
        origins: written.cors.origins,
        warnings: reading.warnings,
    })
}

impl Reading<'_> {
    fn at(&self, offset: usize, key: impl Into<String>, message: impl Into<String>) -> FileError {
        FileError::at(self.file, self.text, offset, key, message)
    }

    fn listen(&self, listen: Option<&Spanned<String>>) -> Result<SocketAddr, FileError> {
        let Some(listen) = listen else { return Ok(SocketAddr::from(([127, 0, 0, 1], 4000))) };
        listen.get_ref().parse().map_err(|_| {
            let message = format!("`{}` is not an address with a port, such as 127.0.0.1:4000", listen.get_ref());
            self.at(listen.span().start, "listen", message)
        })
    }

    fn access(&mut self, auth: &Auth, listen: SocketAddr) -> Result<Access, FileError> {
        let mode = auth.mode.as_ref().map_or(Mode::Keys, |mode| *mode.get_ref());
        let place = auth.mode.as_ref().map_or(0, |mode| mode.span().start);
        match mode {
            Mode::Open if !listen.ip().is_loopback() => {
                let message =
                    format!("`open` is only allowed on loopback, and this gateway listens on {}", listen.ip());
                Err(self.at(place, "auth.mode", message))
            }
            Mode::Open => Ok(Access::Open),
            Mode::Keys if auth.keys.is_empty() => {
                let message = "there are no keys; add `keys = [\"env:NAME\"]` under [auth]";
                Err(self.at(place, "auth.keys", message))
            }
            Mode::Keys => Ok(Access::Keys(self.keys(&auth.keys)?)),
        }
    }

    fn keys(&mut self, references: &[Spanned<String>]) -> Result<Vec<ClientKey>, FileError> {
        let mut keys = Vec::new();
        for (place, reference) in references.iter().enumerate() {
            let path = format!("auth.keys[{place}]");
            let secret = self.secret(reference, &path)?;
            if secret.chars().count() < SHORTEST_KEY {
                let message = format!("a client's key needs at least {SHORTEST_KEY} characters");
                return Err(self.at(reference.span().start, path, message));
            }
            let name = reference.get_ref().strip_prefix("env:").map_or(format!("key {}", place + 1), str::to_owned);
            keys.push(ClientKey::new(&secret, name));
        }
        Ok(keys)
    }

    /// Resolves a reference. Anything that is not a reference is taken as the secret itself, with a warning.
    fn secret(&mut self, reference: &Spanned<String>, path: &str) -> Result<String, FileError> {
        let start = reference.span().start;
        let secret = resolve(reference.get_ref(), self.environment).map_err(|message| self.at(start, path, message))?;
        if secret.given == Given::Inline {
            let place = self.at(start, path, "the secret is in the file itself; use `env:NAME` or `file:PATH` instead");
            self.warnings.push(place.to_string());
        }
        Ok(secret.value)
    }

    fn providers(
        &mut self,
        written: BTreeMap<Spanned<String>, toml::Table>,
        mut registry: Registry,
    ) -> Result<(Registry, Vec<ProviderSetup>), FileError> {
        let mut setups = Vec::new();
        for (name, mut row) in written {
            let (start, id) = (name.span().start, name.get_ref().clone());
            let path = |key: &str| format!("providers.{id}{key}");
            let key = match row.remove("api_key") {
                None => None,
                Some(toml::Value::String(reference)) => {
                    let reference = Spanned::new(name.span(), reference);
                    Some(Key::from(self.secret(&reference, &path(".api_key"))?))
                }
                Some(_) => return Err(self.at(start, path(".api_key"), "must be a string: `env:NAME` or `file:PATH`")),
            };
            let base_url = row.get("base_url").and_then(toml::Value::as_str).map(str::to_owned);
            let rows = toml::Table::from_iter([(id.clone(), toml::Value::Table(row))]);
            registry.providers = registry.providers.with_toml(self.file, &rows.to_string()).map_err(|error| {
                let key = if error.key.is_empty() { path("") } else { format!("providers.{}", error.key) };
                self.at(start, key, error.message)
            })?;
            let id = registry.providers.find(&id).map_or(id, |provider| provider.id.to_string());
            setups.push(ProviderSetup { id, key, base_url });
        }
        Ok((registry, setups))
    }

    fn models(
        &self,
        written: BTreeMap<Spanned<String>, Model>,
        registry: &Registry,
    ) -> Result<Vec<ModelSetup>, FileError> {
        let mut setups = Vec::new();
        for (name, model) in written {
            let pattern = name.get_ref();
            let path = |rest: String| format!("models.{pattern}.targets{rest}");
            if model.targets.get_ref().is_empty() {
                return Err(self.at(model.targets.span().start, path(String::new()), "needs at least one model"));
            }
            let mut targets = Vec::new();
            for (place, target) in model.targets.into_inner().into_iter().enumerate() {
                let start = target.span().start;
                let Target { model, dialect } = target.into_inner();
                let wrong = |message: String| self.at(start, path(format!("[{place}]")), message);
                let name = registry.parse(&model).map_err(|error| wrong(error.to_string()))?;
                let route = match dialect {
                    Some(dialect) => registry.route_in(&name, dialect),
                    None => registry.route(&name),
                };
                route.map_err(|error| wrong(error.to_string()))?;
                targets.push(TargetSetup { name, dialect });
            }
            setups.push(ModelSetup {
                pattern: pattern.clone(),
                targets,
                answers_as_asked: model.answer_model == AnswerModel::Asked,
                strict: model.strict,
            });
        }
        Ok(setups)
    }

    fn timeouts(&self, written: &Timeouts) -> Result<ServerTimeouts, FileError> {
        let usual = ServerTimeouts::default();
        let seconds = |given: &Option<Spanned<f64>>, name: &str, usual: Duration| match given {
            None => Ok(usual),
            Some(given) => match Duration::try_from_secs_f64(*given.get_ref()) {
                Ok(time) if !time.is_zero() => Ok(time),
                _ => {
                    Err(self.at(given.span().start, format!("timeouts.{name}"), "must be a number of seconds above 0"))
                }
            },
        };
        Ok(ServerTimeouts {
            head: seconds(&written.head, "head", usual.head)?,
            body: seconds(&written.body, "body", usual.body)?,
            write: seconds(&written.write, "write", usual.write)?,
            drain: seconds(&written.drain, "drain", usual.drain)?,
            keep_alive: seconds(&written.keep_alive, "keep_alive", usual.keep_alive)?,
            first_byte: seconds(&written.first_byte, "first_byte", usual.first_byte)?,
            idle: seconds(&written.idle, "idle", usual.idle)?,
            state: seconds(&written.state, "state", usual.state)?,
        })
    }
}

impl Limits {
    fn over(&self, usual: ServerLimits) -> ServerLimits {
        let body = self.body.unwrap_or(usual.body).max(1024);
        ServerLimits {
            connections: self.connections.unwrap_or(usual.connections).max(1),
            body,
            // One request has to fit.
            bodies: self.bodies.unwrap_or(usual.bodies).max(body),
        }
    }
}
