//! The log on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use super::LogFormat;

/// Starts the log. `RUST_LOG` sets the level; the default is one line for each request.
pub(super) fn start(format: LogFormat) {
    let format = match format {
        LogFormat::Auto if std::io::stderr().is_terminal() => LogFormat::Text,
        LogFormat::Auto => LogFormat::Json,
        given => given,
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,ikigai::gateway=info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A subscriber that is already installed takes precedence.
    let _ = match format {
        LogFormat::Off => Ok(()),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text | LogFormat::Auto => builder.compact().try_init(),
    };
}
