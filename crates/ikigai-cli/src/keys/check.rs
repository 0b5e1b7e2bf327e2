//! `ikigai keys check`.

use std::time::Duration;

use clap::Args;
use ikigai::config::Found;
use ikigai::transport::Timeouts;
use ikigai::{Client, Provider, Registry, Retry};
use serde_json::json;
use tokio::task::JoinSet;

use super::{found, provider};
use crate::exit::{Exit, Failure};
use crate::output::{DIM, ERROR, GOOD, NAME, Out};
use crate::screen::clean;
use crate::trust;

/// How long a provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Test the keys with one free request to each provider
///
/// Each provider with a key is asked which models it has, which costs nothing. A few providers answer anyone: there
/// it shows that they are reachable, not that the key is valid.
#[derive(Debug, Args)]
#[command(
    visible_alias = "test",
    after_long_help = "\
Examples:
  ikigai keys check
  ikigai keys check anthropic
  ikigai keys check openai --json

Exit codes: 0 when every key works, 3 when one is missing or not accepted, otherwise that of the first failure."
)]
pub(crate) struct Check {
    /// Which provider; by default every one with a key
    #[arg(value_name = "PROVIDER")]
    provider: Option<String>,
    /// Print a JSON list
    #[arg(long)]
    json: bool,
}

/// The result of asking one provider.
#[derive(Debug)]
pub(crate) struct Tried {
    /// Its id.
    pub(crate) provider: String,
    /// The key that was sent; `None` for providers that need none.
    pub(crate) key: Option<Found>,
    /// How many models it has, or what went wrong.
    pub(crate) outcome: Result<usize, ikigai::Error>,
}

pub(crate) fn run(check: &Check, registry: Registry, out: &mut Out) -> Result<(), Failure> {
    let client = client(registry, trust::client()?)?;
    let (keys, broken) = found(&client);
    let chosen: Vec<(&Provider, Option<Found>)> = match &check.provider {
        Some(name) => {
            let provider = provider(client.registry(), name)?;
            let key = keys.into_iter().find(|(known, _)| known.id == provider.id).map(|(_, found)| found);
            vec![(provider, key)]
        }
        None if keys.is_empty() => {
            return Err(broken.unwrap_or_else(|| {
                Failure::new("there is no key to check")
                    .exit(Exit::NoKey)
                    .hint("Store one with: ikigai keys set PROVIDER")
            }));
        }
        None => keys.into_iter().map(|(provider, found)| (provider, Some(found))).collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let tried = runtime.block_on(all(&client, chosen));
    print(&tried, check, out)?;
    let failures: Vec<Failure> =
        tried.iter().filter_map(|tried| tried.outcome.as_ref().err()).map(Failure::from).collect();
    let worst = failures.iter().find(|failure| failure.exit == Exit::NoKey).or_else(|| failures.first());
    match (worst, broken) {
        // With only one provider, its error is all there is to say.
        (Some(failure), _) if tried.len() == 1 => Err(failure.clone()),
        (Some(failure), _) => {
            Err(Failure::new(format!("{} of {} keys do not work", failures.len(), tried.len())).exit(failure.exit))
        }
        (None, Some(broken)) => Err(broken),
        (None, None) => Ok(()),
    }
}

fn print(tried: &[Tried], check: &Check, out: &mut Out) -> Result<(), Failure> {
    if check.json {
        let rows: Vec<_> = tried
            .iter()
            .map(|tried| match &tried.outcome {
                Ok(models) => json!({"provider": tried.provider, "ok": true, "models": models}),
                Err(error) => json!({
                    "provider": tried.provider,
                    "ok": false,
                    "error": {"kind": error.kind(), "status": error.status(), "message": error.to_string()},
                }),
            })
            .collect();
        return out.json(&rows);
    }
    let wide = tried.iter().map(|tried| tried.provider.len()).max().unwrap_or(0);
    for Tried { provider, key, outcome } in tried {
        let key = key.as_ref().map(|found| found.key.hint()).unwrap_or_default();
        match outcome {
            Ok(models) => {
                out.text(&format!(
                    "{GOOD}ok{GOOD:#}      {NAME}{provider:<wide$}{NAME:#}  {key:<5}  {DIM}{models} models{DIM:#}\n"
                ))?;
            }
            // A single failure is reported at the end.
            Err(_) if tried.len() == 1 => {}
            Err(error) => {
                let words = error.to_string();
                let error = clean(words.strip_prefix(&format!("{provider}: ")).unwrap_or(&words));
                out.text(&format!("{ERROR}failed{ERROR:#}  {NAME}{provider:<wide$}{NAME:#}  {key:<5}  {error}\n"))?;
            }
        }
    }
    Ok(())
}

/// Returns a client that asks once and does not wait long.
pub(crate) fn client(registry: Registry, builder: ikigai::ClientBuilder) -> Result<Client, Failure> {
    let timeouts = Timeouts::default().head(PATIENCE).idle(PATIENCE).total(PATIENCE * 2);
    Ok(builder.registry(registry).timeouts(timeouts).retry(Retry::never()).build()?)
}

/// Asks all providers for their models at the same time.
pub(crate) async fn all(client: &Client, chosen: Vec<(&Provider, Option<Found>)>) -> Vec<Tried> {
    let mut running = JoinSet::new();
    for (provider, key) in chosen {
        let (client, provider) = (client.clone(), provider.id.to_string());
        running.spawn(async move {
            let outcome = client.models(&provider).await.map(|models| models.len());
            Tried { provider, key, outcome }
        });
    }
    let mut tried = running.join_all().await;
    tried.sort_by(|one, other| one.provider.cmp(&other.provider));
    tried
}
