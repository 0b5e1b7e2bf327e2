//! The values that a shell can complete: models, conversations, providers, roles and templates.

use std::ffi::OsStr;
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use ikigai_store::Listing;

use crate::chat::ModelNames;
use crate::conversations;
use crate::places::{self, Places};
use crate::settings::{self, Database, Settings};

/// How long to wait for the database.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many conversations are offered, newest first.
const MOST: u32 = 50;

/// Adds completions for the values of a command's arguments.
pub(super) fn known(command: Command) -> Command {
    command.mut_args(with_values).mut_subcommands(known)
}

fn with_values(arg: Arg) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    match (name, arg.get_id().as_str()) {
        (Some("MODEL"), _) => arg.add(ArgValueCompleter::new(models)),
        (Some("ID"), _) => arg.add(ArgValueCompleter::new(kept)),
        (Some("PROVIDER"), _) => arg.add(ArgValueCompleter::new(providers)),
        (_, "role") => arg
            .add(ArgValueCompleter::new(|begin: &OsStr| named(begin, |settings| settings.roles.into_keys().collect()))),
        (_, "template") => arg.add(ArgValueCompleter::new(|begin: &OsStr| {
            named(begin, |settings| settings.templates.into_keys().collect())
        })),
        _ => arg,
    }
}

/// Returns the valid part of the settings: a shell has no way to show errors.
fn settings() -> Settings {
    settings::load().map(|(settings, _)| settings).unwrap_or_default()
}

fn models(begin: &OsStr) -> Vec<CompletionCandidate> {
    let Some(begin) = begin.to_str() else { return Vec::new() };
    let (registry, _) = places::registry_and_problems(Places::find().as_ref());
    let aliases = settings().aliases.into_iter().filter(|(name, _)| name.starts_with(begin));
    let aliases = aliases.map(|(name, meant)| CompletionCandidate::new(name).help(Some(meant.into())));
    let names = ModelNames::new(registry);
    let offers = names.beginning_with(begin);
    let offers = offers.into_iter().map(|(name, about)| CompletionCandidate::new(name).help(about.map(Into::into)));
    aliases.chain(offers).collect()
}

fn providers(begin: &OsStr) -> Vec<CompletionCandidate> {
    let Some(begin) = begin.to_str() else { return Vec::new() };
    let (registry, _) = places::registry_and_problems(Places::find().as_ref());
    let fitting = registry.providers.iter().filter(|provider| provider.id.starts_with(begin));
    fitting
        .map(|provider| CompletionCandidate::new(&*provider.id).help(Some(provider.name.to_string().into())))
        .collect()
}

fn named(begin: &OsStr, names: impl Fn(Settings) -> Vec<String>) -> Vec<CompletionCandidate> {
    let Some(begin) = begin.to_str() else { return Vec::new() };
    names(settings()).into_iter().filter(|name| name.starts_with(begin)).map(CompletionCandidate::new).collect()
}

/// Returns the saved conversations, by the ends of their ids.
fn kept(begin: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(begin), Some(places)) = (begin.to_str(), Places::find()) else { return Vec::new() };
    let location = match settings().database(&places) {
        // A missing database is not created.
        Database::File(path) if !path.is_file() => return Vec::new(),
        Database::File(path) => path.display().to_string(),
        Database::Postgres(url) => url,
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let listed = async {
        let store = ikigai_store::open(&location).await.ok()?;
        let page = store.list(Listing::newest(MOST)).await.ok()?;
        let _ = store.close().await;
        Some(page.conversations)
    };
    let listed = runtime.block_on(async { tokio::time::timeout(PATIENCE, listed).await });
    let listed = listed.ok().flatten().unwrap_or_default();
    let candidate = |conversation: &ikigai_store::Conversation| {
        let id = conversations::short(conversation.id);
        let title = crate::screen::one_line(conversation.title.as_deref().unwrap_or("untitled"), 60);
        id.starts_with(begin).then(|| CompletionCandidate::new(id).help(Some(title.into())))
    };
    listed.iter().filter_map(candidate).collect()
}
