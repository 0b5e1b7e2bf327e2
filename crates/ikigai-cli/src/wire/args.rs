//! Command-line arguments that the wire commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ikigai_core::Dialect;

use crate::exit::Failure;

/// What is translated
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// What is asked of a model
    Request,
    /// A whole answer
    Response,
    /// An answer as it arrives, as the text of an event stream
    Stream,
    /// A failure
    Error,
}

/// Where the input comes from.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// Read this file instead of standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Read one JSON object per line, write one per line
    ///
    /// In: {"id", "body", "status"?, "path"?, "headers"?}, where the body is a JSON value, or a string with the raw text of
    /// a stream or of an error that is not JSON. Out: {"id", "ok"} or {"id", "error"}, and "losses" where there are any.
    /// A line that fails does not stop the run, and the exit code stays 0: look at the lines.
    #[arg(long)]
    pub(crate) batch: bool,
}

/// What came with the body over HTTP. In a batch each line may say it for itself.
#[derive(Debug, Args)]
pub(crate) struct Http {
    /// The request's path; Gemini names the model there
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// The answer's HTTP status; from 400 on, the body is read as an error
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) status: Option<u16>,
    /// A header of the answer, such as 'retry-after: 3'; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
}

/// Who the other side is, and how to write for it.
#[derive(Debug, Args)]
pub(crate) struct Other {
    /// The provider whose API it is; its peculiarities are respected, and its sealed thinking goes back to it alone
    /// [default: the dialect's own]
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Ask this model instead of the one that the request names: [PROVIDER:]MODEL[/LEVEL]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Fail when something cannot be carried
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the path or status and the headers too, as {"path", "headers", "body"}
    #[arg(long)]
    pub(crate) full: bool,
    /// The time to write into answers that must have one, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) created: Option<u64>,
}

/// Returns the names of the dialects, for the parser, the help and the completions.
pub(crate) fn dialect() -> impl clap::builder::TypedValueParser<Value = Dialect> {
    use clap::builder::TypedValueParser as _;
    let names = Dialect::PROVIDERS.map(Dialect::as_str);
    clap::builder::PossibleValuesParser::new(names).try_map(|name| name.parse::<Dialect>())
}

impl Kind {
    /// Checks that this can be read in a dialect.
    pub(crate) fn check_read(self, dialect: Dialect) -> Result<(), Failure> {
        match self {
            Kind::Request => clients_too(dialect),
            Kind::Response | Kind::Stream | Kind::Error => Ok(()),
        }
    }

    /// Checks that this can be written in a dialect.
    pub(crate) fn check_written(self, dialect: Dialect) -> Result<(), Failure> {
        match self {
            Kind::Request => Ok(()),
            Kind::Response | Kind::Stream | Kind::Error => clients_too(dialect),
        }
    }
}

fn clients_too(dialect: Dialect) -> Result<(), Failure> {
    if dialect.serves_clients() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "only providers speak {dialect}: its requests can be encoded, its answers, streams and errors decoded"
    )))
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_lowercase(), value.trim().to_owned())),
        _ => Err("write a header as 'name: value'".to_owned()),
    }
}
