//! `ikigai serve`: the gateway.

mod client_keys;
mod hints;
mod logging;
mod watching;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use ikigai::config::Environment;
use ikigai_core::provider::Registry;
use ikigai_gateway::{Config, Gateway, Setup, StartError};
use ikigai_sim::Sim;

use self::client_keys::ClientKeys;
use crate::exit::Failure;
use crate::output::Out;
use crate::places::{self, Places};

/// The name of the simulator when there is no configuration, and the model it imitates.
const SIMULATOR: &str = "sim";
const SIMULATED: &str = "sim:claude-sonnet-4-5";

/// Run the gateway: any client, any provider
///
/// Programs written for OpenAI Chat Completions, OpenAI Responses, Anthropic Messages or Gemini reach every provider and
/// model through it; only their base URL and key change. If both sides speak the same dialect, the bytes pass through
/// unchanged. Otherwise they are translated, and whatever cannot be carried over is listed in the header
/// `x-ikigai-losses` and in the log.
///
/// Without a configuration it listens on this machine only, uses every provider whose key is in the environment or was
/// stored with `ikigai keys set`, and offers the built-in simulator as the model `sim` (or the one at IKIGAI_SIM_URL).
/// The first start creates a key for your programs and shows it once.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Serve {
    /// The configuration file (TOML)
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where to listen; overrides the configuration. Port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Check the configuration and exit
    #[arg(long, requires = "config")]
    check: bool,
    /// Print an example configuration
    #[arg(long, exclusive = true)]
    example: bool,
    /// Create a new client key; earlier ones stop working
    #[arg(long, conflicts_with = "config")]
    new_key: bool,
    /// The format of the log on standard error
    #[arg(long, value_enum, default_value = "auto")]
    log: LogFormat,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    Auto,
    /// One JSON object per line
    Json,
    /// Readable text
    Text,
    /// No log
    Off,
}

const AFTER_LONG_HELP: &str = "\
Examples:
  ikigai serve
      On 127.0.0.1:4000, with every key it finds.
  ikigai serve --example > gateway.toml
  ikigai serve --config gateway.toml --check
  ikigai serve --config gateway.toml
      With your own model names and fallbacks. The file is reloaded when it changes, and on SIGHUP.
  OPENAI_BASE_URL=http://127.0.0.1:4000/v1 OPENAI_API_KEY=$KEY your-program
  ANTHROPIC_BASE_URL=http://127.0.0.1:4000 ANTHROPIC_AUTH_TOKEN=$KEY claude
      Programs that use it.

Standard output has one line: the address, once the gateway is listening. After Ctrl-C or SIGTERM, running requests may finish first.";

pub(crate) fn run(serve: Serve, out: &mut Out) -> Result<(), Failure> {
    if serve.example {
        return out.text(ikigai_gateway::example());
    }
    let (registry, problems) = places::registry_and_problems(Places::find().as_ref());
    for problem in problems {
        out.warning(&problem.to_string());
    }
    // A server uses nothing from the folder in which it happens to be started.
    let environment = Environment::process().with_user_settings();
    let source = Arc::new(Source { file: serve.config.clone(), listen: serve.listen, registry, environment });
    if serve.check {
        let config = source.read()?;
        for warning in &config.warnings {
            out.warning(warning);
        }
        let (models, providers) = (config.models.len(), config.providers.len());
        return out.text(&format!("The configuration is valid. Models: {models}, providers: {providers}.\n"));
    }
    logging::start(serve.log);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    runtime.block_on(serve_until_stopped(&source, serve.new_key, out))
}

/// The source of the configuration, which may be read again later.
#[derive(Debug)]
pub(crate) struct Source {
    file: Option<PathBuf>,
    listen: Option<SocketAddr>,
    registry: Registry,
    environment: Environment,
}

impl Source {
    /// Reads and checks the whole configuration.
    pub(crate) fn read(&self) -> Result<Config, Failure> {
        let mut config = match &self.file {
            Some(file) => self.read_file(file)?,
            None => {
                let keys = ClientKeys::read()?;
                let text = format!("auth.mode = \"open\"\n[models.{SIMULATOR}]\ntargets = [\"{SIMULATED}\"]\n");
                let read = Config::read_over(self.registry.clone(), "built-in", &text, &self.environment);
                let own = read.map_err(|error| Failure::new(error.to_string()))?;
                let mut config = Config::without_file(self.registry.clone(), keys.fingerprints());
                config.models = own.models;
                config
            }
        };
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        Ok(config)
    }

    fn read_file(&self, file: &Path) -> Result<Config, Failure> {
        let name = file.display().to_string();
        // To open a pipe may take forever, and what came from it cannot be read again.
        if std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Failure::new(format!("cannot read {name}: it is not a regular file")));
        }
        let read = places::read(file).map_err(|error| Failure::new(format!("cannot read {error}")))?;
        let text = read.ok_or_else(|| Failure::new(format!("cannot read {name}: there is no such file")))?;
        let read = Config::read_over(self.registry.clone(), &name, &text, &self.environment);
        read.map_err(|error| Failure::new(error.to_string()).hint("`ikigai serve --example` shows what can be set."))
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

async fn serve_until_stopped(source: &Arc<Source>, new_key: bool, out: &mut Out) -> Result<(), Failure> {
    let mut made = None;
    if source.file.is_none() {
        let mut keys = ClientKeys::read()?;
        if new_key || keys.is_empty() {
            made = Some(keys.make()?);
        }
    }
    let seen = source.file().and_then(watching::stamp);
    let config = source.read()?;
    for warning in &config.warnings {
        out.warning(warning);
    }
    let mut setup = Setup::new(source.environment.clone())?;
    let simulator = if wants_simulator(&config) && !setup.has_simulator() {
        let mut quiet = ikigai_sim::Config::default();
        quiet.log_bytes = 0;
        let sim = Sim::with(quiet)
            .await
            .map_err(|error| Failure::new(format!("cannot start the built-in simulator: {error}")))?;
        setup = setup.simulator(sim.url());
        Some(sim)
    } else {
        None
    };
    let gateway = Gateway::start(config, setup).await.map_err(not_started)?;
    out.text(&format!("{}\n", gateway.url()))?;
    out.flush()?;
    hints::show(&gateway, made.as_deref(), source.file.is_none(), out);
    watching::until_stopped(&gateway, source, seen).await;
    gateway.stop().await;
    drop(simulator);
    Ok(())
}

/// Whether the configuration uses the simulator without giving its URL.
fn wants_simulator(config: &Config) -> bool {
    let has_address = config.providers.iter().any(|provider| provider.id == SIMULATOR && provider.base_url.is_some());
    let targets = config.models.iter().flat_map(|model| &model.targets);
    !has_address && targets.into_iter().any(|target| target.name.provider == SIMULATOR)
}

fn not_started(error: StartError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        StartError::Listen { .. } => failure.hint("Choose another port; --listen 127.0.0.1:0 picks a free one."),
        _ => failure,
    }
}
