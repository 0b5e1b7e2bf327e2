//! `ikigai trust`: whether the files in a folder are followed.
//!
//! A folder may come from anyone. Its `AGENTS.md`, `.ikigai.toml` and `.env` are used only if the user trusts it.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use ikigai::config::Environment;
use ikigai::transport::{self, Sending, Transport, TransportError};
use ikigai::{Client, ClientBuilder, Registry};

use crate::exit::Failure;
use crate::output::Out;
use crate::places::{self, Places};
use crate::project::{self, Project};
use crate::tools::Permissions;

/// Trust a folder: use its AGENTS.md, .ikigai.toml and .env
///
/// A chat asks once when it finds such files, and again when .ikigai.toml has changed. The decision applies to this folder, not to those below it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai trust
  ikigai trust ~/work/project
  ikigai trust --remove")]
pub(crate) struct Trust {
    /// The folder; by default the working folder
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Stop trusting it
    #[arg(long)]
    remove: bool,
}

pub(crate) fn run(trust: &Trust, out: &mut Out) -> Result<(), Failure> {
    let folder = trust.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut permissions = of(&folder)?;
    permissions.trust(!trust.remove, Project::read(&folder)?.digest())?;
    let shown = permissions.root().display();
    out.text(&if trust.remove { format!("{shown} is not trusted.\n") } else { format!("{shown} is trusted.\n") })
}

/// Returns a builder for a client that uses the `.env` of the working folder if that is trusted.
pub(crate) fn client() -> Result<ClientBuilder, Failure> {
    let environment = Environment::process().with_user_settings();
    let trusted = of(Path::new("."))?.trusted() == Some(true);
    Ok(ikigai::Client::builder().environment(if trusted { environment.with_dotenv(".env") } else { environment }))
}

/// Returns a client that looks up keys and sends nothing: setting up HTTP, with all the system's certificates, takes
/// longer than everything else at startup.
pub(crate) fn lookup(registry: Registry) -> Result<Client, Failure> {
    Ok(client()?.registry(registry).transport(Unsent).build()?)
}

/// The transport of a client that sends nothing.
#[derive(Debug)]
struct Unsent;

impl Transport for Unsent {
    fn send(&self, _: http::Request<Bytes>) -> Sending<'_> {
        let error = TransportError::new(transport::Failure::Request, "this client looks up keys, and sends nothing");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Asks on a terminal whether the working folder is trusted, if that matters and was not decided before. Returns the
/// folder's files for models if it is trusted.
pub(crate) fn settle(out: &mut Out) -> Result<Option<Project>, Failure> {
    let mut permissions = of(Path::new("."))?;
    let names = waiting(&places::registry_and_problems(Places::find().as_ref()).0);
    let project = Project::read(Path::new("."))?;
    let mut found = project.found();
    found.extend((!names.is_empty()).then(|| format!(".env ({})", names.join(", "))));
    let digest = project.digest();
    let is_decided = permissions.trusted().is_some() && permissions.knows(digest.as_deref());
    if is_decided || found.is_empty() || !std::io::stdin().is_terminal() {
        return Ok((permissions.trusted() == Some(true)).then_some(project));
    }
    out.note(&format!("{} has files for ikigai:\n", permissions.root().display()));
    for line in found {
        out.note(&format!("  {line}\n"));
    }
    out.note("Trust this folder and use them from now on? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| Failure::new(format!("cannot read the answer: {error}")))?;
    let trusted = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    permissions.trust(trusted, digest)?;
    Ok(trusted.then_some(project))
}

/// Returns a trusted working folder's files for models. If the user has not decided, one line says how to trust it: a
/// script is never asked. Nothing in an untrusted folder is read.
pub(crate) fn followed(out: &mut Out) -> Result<Option<Project>, Failure> {
    let (here, permissions) = (Path::new("."), of(Path::new("."))?);
    match permissions.trusted() {
        Some(false) => {}
        Some(true) => {
            let project = Project::read(here)?;
            if permissions.knows(project.digest().as_deref()) {
                return Ok(Some(project));
            }
            out.note("The .ikigai.toml here has changed and is not used. Run `ikigai trust` to use it.\n");
        }
        None => {
            let names = project::present(here);
            if !names.is_empty() {
                let (is, it) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
                let names = names.join(" and ");
                out.note(&format!(
                    "{names} {is} not used: this folder is not trusted. Run `ikigai trust` to use {it}.\n"
                ));
            }
        }
    }
    Ok(None)
}

/// Returns what to do about a `.env` that contains a key but is not read; `None` if there is none.
pub(crate) fn hint(registry: &Registry) -> Option<String> {
    let untrusted = of(Path::new(".")).is_ok_and(|permissions| permissions.trusted() != Some(true));
    let names = waiting(registry);
    (untrusted && !names.is_empty())
        .then(|| format!("The .env here sets {}; run `ikigai trust` to use it.", names.join(", ")))
}

/// Returns our variables that the `.env` of the working folder sets.
fn waiting(registry: &Registry) -> Vec<String> {
    let Ok(Some(text)) = places::read(Path::new(".env")) else { return Vec::new() };
    let assigned = |name: &str| {
        text.lines().any(|line| {
            let line = line.trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            line.split_once('=').is_some_and(|(known, _)| known.trim() == name)
        })
    };
    let mut names: Vec<String> = Vec::new();
    for provider in registry.providers.iter() {
        let keys = provider.key_env.iter().map(ToString::to_string);
        names.extend(keys.chain(provider.base_url_variables()).filter(|name| assigned(name)));
    }
    names.sort();
    names.dedup();
    names
}

fn of(folder: &Path) -> Result<Permissions, Failure> {
    let root = std::fs::canonicalize(folder).map_err(|error| Failure::file("open", folder, &error))?;
    Permissions::open(Places::find().map(|places| places.approvals()), &root)
}
