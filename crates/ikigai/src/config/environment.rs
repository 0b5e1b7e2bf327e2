//! Variables and folders, from this process or supplied by the caller.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The source of variables and settings: this process, or values that the caller supplies instead.
///
/// ```
/// use ikigai::config::Environment;
///
/// let environment = Environment::of([("OPENAI_API_KEY", "sk-test")]);
/// assert_eq!(environment.variable("OPENAI_API_KEY").as_deref(), Some("sk-test"));
/// assert_eq!(environment.settings(), None); // Nothing is read from the disk.
/// ```
#[derive(Debug, Clone)]
pub struct Environment {
    variables: Variables,
    /// Take precedence over the others.
    added: Added,
    settings: Option<PathBuf>,
    dotenv: Option<PathBuf>,
}

/// Variables that were added.
#[derive(Clone, Default)]
struct Added(BTreeMap<String, String>);

#[derive(Clone)]
enum Variables {
    Process,
    Given(BTreeMap<String, String>),
}

impl Environment {
    /// Uses the variables of this process, and no files.
    pub fn process() -> Self {
        Environment { variables: Variables::Process, added: Added::default(), settings: None, dotenv: None }
    }

    /// Uses these variables, and no files.
    pub fn of<N: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let given = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment { variables: Variables::Given(given), added: Added::default(), settings: None, dotenv: None }
    }

    /// Adds a variable, or replaces its value.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.added.0.insert(name.into(), value.into());
        self
    }

    /// Adds the user's settings folder: `$IKIGAI_HOME`, or else `ikigai` in the system's settings folder. Does nothing
    /// if there is no such folder, for example for a user without a home folder.
    #[cfg(feature = "settings")]
    #[must_use]
    pub fn with_user_settings(mut self) -> Self {
        self.settings = user_settings();
        self
    }

    /// Adds a settings folder, from which `credentials.toml`, `providers.toml` and `models.toml` are read.
    #[cfg(feature = "settings")]
    #[must_use]
    pub fn with_settings(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings = Some(folder.into());
        self
    }

    /// Adds a `.env` file, which may be missing. It is used for keys that are found neither in the variables nor in the
    /// settings folder.
    #[must_use]
    pub fn with_dotenv(mut self, file: impl Into<PathBuf>) -> Self {
        self.dotenv = Some(file.into());
        self
    }

    /// Returns the value of a variable. An empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<String> {
        let value = self.added.0.get(name).cloned().or_else(|| match &self.variables {
            Variables::Process => std::env::var(name).ok(),
            Variables::Given(given) => given.get(name).cloned(),
        });
        value.filter(|value| !value.trim().is_empty())
    }

    /// Returns the settings folder, if one was added.
    pub fn settings(&self) -> Option<&PathBuf> {
        self.settings.as_ref()
    }

    /// Whether the variables are those of this process, and not supplied by the caller.
    #[cfg(feature = "vertex")]
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.variables, Variables::Process)
    }

    /// Returns the `.env` file, whether it exists or not.
    pub(crate) fn dotenv(&self) -> Option<&PathBuf> {
        self.dotenv.as_ref()
    }
}

impl Default for Environment {
    fn default() -> Self {
        Environment::process()
    }
}

#[cfg(feature = "settings")]
fn user_settings() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    match std::env::var_os("IKIGAI_HOME") {
        Some(home) if !home.is_empty() => Some(PathBuf::from(home)),
        _ => etcetera::choose_base_strategy().ok().map(|places| places.config_dir().join("ikigai")),
    }
}

/// Prints names without values: some of them are keys.
impl std::fmt::Debug for Added {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Variables::Process => f.write_str("Process"),
            Variables::Given(given) => f.debug_set().entries(given.keys()).finish(),
        }
    }
}
