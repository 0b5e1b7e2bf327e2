//! `ikigai doctor`: what works, what does not, and what to do about it.

mod database;
mod network;
mod terminal;

use clap::Args;
use ikigai::Client;
use serde::Serialize;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::keys;
use crate::output::{DIM, ERROR, GOOD, HEADING, Out, WARNING};
use crate::places::{self, Places};
use crate::screen::clean;
use crate::settings::{self, Checked, State};

/// Check the setup: keys, files, network, terminal, database
///
/// Each provider with a key is asked which models it has, which costs nothing. Keys and passwords are never shown, so
/// you can share the output.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai doctor
  ikigai doctor --offline
  ikigai doctor --json | jq '.findings[] | select(.state == \"broken\")'

The exit code is 1 when something is broken; warnings do not count.")]
pub(crate) struct Doctor {
    /// Contact no provider and no database server
    #[arg(long)]
    offline: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The state of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    /// It works.
    Good,
    /// Good to know.
    Info,
    /// It deserves attention.
    Warning,
    /// It does not work.
    Broken,
}

/// Something that was examined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The area it belongs to: `keys`, `network`.
    pub(crate) area: &'static str,
    pub(crate) state: Health,
    pub(crate) what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl Finding {
    pub(crate) fn new(area: &'static str, state: Health, what: impl Into<String>) -> Self {
        Finding { area, state, what: what.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(crate) fn run(doctor: &Doctor, out: &mut Out) -> Result<Exit, Failure> {
    let places = Places::find();
    let (registry, _) = places::registry_and_problems(places.as_ref());
    let mut findings = program();
    findings.extend(places.as_ref().map_or_else(homeless, files));
    // TLS cannot be set up if a certificate file is broken; finding that is the doctor's job.
    match network::client(registry) {
        Err(failure) => findings.push(Finding::new("network", Health::Broken, failure.what)),
        Ok((client, clock)) => {
            findings.extend(self::keys(&client));
            if doctor.offline {
                findings.push(Finding::new("network", Health::Info, "not checked (--offline)"));
            } else {
                findings.extend(network::reach(&client, &clock)?);
            }
        }
    }
    findings.extend(network::variables());
    findings.extend(terminal::look());
    findings.extend(database::look(places.as_ref(), doctor.offline)?);
    // Groups findings by area, in the order in which the areas were first examined.
    let mut areas: Vec<&str> = Vec::new();
    findings.iter().for_each(|finding| {
        if !areas.contains(&finding.area) {
            areas.push(finding.area);
        }
    });
    findings.sort_by_key(|finding| areas.iter().position(|area| *area == finding.area));
    let broken = findings.iter().filter(|finding| finding.state == Health::Broken).count();
    if doctor.json {
        let version = env!("IKIGAI_VERSION");
        out.json(&json!({"version": version, "platform": platform(), "ok": broken == 0, "findings": findings}))?;
    } else {
        print(&findings, broken, out)?;
    }
    Ok(if broken == 0 { Exit::Ok } else { Exit::Error })
}

fn print(findings: &[Finding], broken: usize, out: &mut Out) -> Result<(), Failure> {
    let mut text = String::new();
    let mut area = "";
    for finding in findings {
        if finding.area != area {
            area = finding.area;
            text.push_str(&format!("{HEADING}{area}{HEADING:#}\n"));
        }
        let (style, mark) = match finding.state {
            Health::Good => (GOOD, "ok"),
            Health::Info => (DIM, "-"),
            Health::Warning => (WARNING, "!"),
            Health::Broken => (ERROR, "broken"),
        };
        text.push_str(&format!("  {style}{mark:<6}{style:#}  {}\n", clean(&finding.what)));
        if let Some(hint) = &finding.hint {
            text.push_str(&format!("          {DIM}{}{DIM:#}\n", clean(hint)));
        }
    }
    text.push_str(&match broken {
        0 => "\nNothing is broken.\n".to_owned(),
        1 => "\nOne thing is broken.\n".to_owned(),
        more => format!("\n{more} things are broken.\n"),
    });
    out.text(&text)
}

fn platform() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn program() -> Vec<Finding> {
    let mut what = format!("ikigai {} on {}", env!("IKIGAI_VERSION"), platform());
    if let Ok(path) = std::env::current_exe() {
        what.push_str(&format!(", {}", path.display()));
    }
    vec![Finding::new("program", Health::Good, what)]
}

fn homeless() -> Vec<Finding> {
    let what = "there is no settings folder: this user has no home folder";
    vec![Finding::new("files", Health::Warning, what).hint("Set IKIGAI_HOME.")]
}

/// Checks the user's own files.
fn files(places: &Places) -> Vec<Finding> {
    let of = |Checked { file, state }: Checked| match state {
        State::Missing => vec![Finding::new("files", Health::Info, format!("{} does not exist", file.display()))],
        State::Good => vec![Finding::new("files", Health::Good, file.display().to_string())],
        State::Odd(warnings) => {
            warnings.into_iter().map(|warning| Finding::new("files", Health::Warning, warning)).collect()
        }
        State::Broken(problem) => vec![Finding::new("files", Health::Broken, problem)],
    };
    settings::check_files(places).into_iter().flat_map(of).collect()
}

/// Lists the keys and where they come from.
fn keys(client: &Client) -> Vec<Finding> {
    // A broken credentials file is reported with the files.
    let (keys, _) = keys::found(client);
    if keys.is_empty() {
        let hint = "The simulator answers in their place. To store one: ikigai keys set PROVIDER";
        return vec![Finding::new("keys", Health::Warning, "no keys found").hint(hint)];
    }
    let of = |(provider, found): &(&ikigai::Provider, ikigai::config::Found)| {
        let what = format!("{}: {} from {}", provider.id, found.key.hint(), keys::source(&found.from));
        Finding::new("keys", Health::Good, what)
    };
    keys.iter().map(of).collect()
}
