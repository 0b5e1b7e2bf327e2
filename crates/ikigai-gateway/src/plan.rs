//! Finds the models that answer to the name that a client asks for.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ikigai::{Dialect, ErrorKind, ModelError, Retry, Upstream};
use ikigai_core::{Error, near};

use crate::config::{ModelSetup, TargetSetup};
use crate::reply::wrong_field;
use crate::state::State;

/// The most names that are remembered. Clients may ask for any name, so the list would grow forever.
const MOST_PLANS: usize = 4096;

/// The longest name of a model, in bytes. Amazon's are the longest of the real ones, at 2,048.
const LONGEST_NAME: usize = 2048;

/// The longest wait before a request is tried again.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The models that answer to a name, and how.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The model to ask first.
    pub(crate) first: Way,
    /// The models to ask if those before do not answer.
    others: Vec<Way>,
    /// Whether answers name the model that the client asked for.
    pub(crate) as_asked: bool,
    pub(crate) strict: bool,
}

/// One model that may answer.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) upstream: Upstream,
    /// Whether the client's bytes can pass through unchanged.
    pub(crate) passes: bool,
}

impl Plan {
    /// The models in the order in which they are asked.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &Way> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// Refuses a name longer than any model's: names are remembered, logged and repeated in errors.
pub(crate) fn check_length(asked: &str) -> Result<(), Error> {
    if asked.len() <= LONGEST_NAME {
        return Ok(());
    }
    let told = format!("`model` has {} bytes, and no model's name has more than {LONGEST_NAME}", asked.len());
    Err(wrong_field("model", told))
}

impl State {
    /// The models that answer to a name for a client of this dialect.
    pub(crate) fn plan(&self, asked: &str, dialect: Dialect) -> Result<Arc<Plan>, Error> {
        let key = (asked.to_owned(), dialect);
        let plans = self.plans.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&key) {
            return Ok(Arc::clone(plan));
        }
        drop(plans);
        let plan = Arc::new(self.make_plan(asked, dialect)?);
        let mut plans = self.plans.write().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    fn make_plan(&self, asked: &str, dialect: Dialect) -> Result<Plan, Error> {
        let setup = best(&self.config.models, asked);
        let real;
        let targets = match setup {
            Some(setup) => setup.targets.as_slice(),
            None => {
                let name = self.config.registry.parse(asked).map_err(|error| self.unknown(asked, &error))?;
                real = [TargetSetup { name, dialect: None }];
                &real
            }
        };
        let mut ways = VecDeque::new();
        let mut failed = None;
        for (place, target) in targets.iter().enumerate() {
            match self.way(target, dialect, place + 1 == targets.len()) {
                Ok(way) => ways.push_back(way),
                Err(error) => failed = Some(error),
            }
        }
        let Some(first) = ways.pop_front() else {
            return Err(failed.unwrap_or_else(|| Error::new(ErrorKind::NotFound, format!("no target for `{asked}`"))));
        };
        Ok(Plan {
            first,
            others: ways.into(),
            as_asked: setup.is_some_and(|setup| setup.answers_as_asked),
            strict: setup.and_then(|setup| setup.strict).unwrap_or(self.config.strict),
        })
    }

    fn way(&self, target: &TargetSetup, client: Dialect, is_last: bool) -> Result<Way, Error> {
        let name = &target.name;
        let unavailable = |why: String| {
            let mut error = Error::new(ErrorKind::NotFound, format!("{name} is not available here: {why}"));
            error.code = Some("model_not_found".to_owned());
            error
        };
        if !self.reachable.contains(&name.provider) {
            return Err(unavailable(format!("the gateway has no key for {}", name.provider)));
        }
        let shared = self.config.registry.answers_in(name, client);
        let dialect = target.dialect.or(shared.then_some(client));
        let mut model = self.client.model_named(name.clone());
        if let Some(dialect) = dialect {
            model = model.dialect(dialect);
        }
        // If another model can be asked, that is better than waiting for this one. A client that is told to wait long
        // can decide for itself.
        let retry = match is_last {
            true => Retry::default().attempts(self.config.attempts).longest_wait(LONGEST_WAIT),
            false => Retry::never(),
        };
        let upstream = model.retry(retry).upstream().map_err(|error| unavailable(error.to_string()))?;
        let passes = upstream.dialect() == client && upstream.provider().takes_bytes_of(client);
        Ok(Way { upstream, passes })
    }

    /// The error for an unknown name, with the nearest of the configured names or else of the real ones.
    fn unknown(&self, asked: &str, error: &ModelError) -> Error {
        let own = self.config.models.iter().map(|setup| setup.pattern.as_str()).filter(|name| !name.contains('*'));
        let message = match near::close(asked, own) {
            Some(near) => format!("unknown model `{asked}`; did you mean `{near}`?"),
            None => error.to_string(),
        };
        let mut error = Error::new(ErrorKind::NotFound, message);
        error.code = Some("model_not_found".to_owned());
        error.param = Some("model".to_owned());
        error
    }
}

/// The entry for a name: an exact match, or else the longest matching pattern.
fn best<'a>(models: &'a [ModelSetup], asked: &str) -> Option<&'a ModelSetup> {
    let exact = models.iter().find(|setup| setup.pattern == asked);
    exact.or_else(|| {
        let matching = models.iter().filter(|setup| setup.pattern.contains('*') && matches(&setup.pattern, asked));
        matching.max_by_key(|setup| setup.pattern.len())
    })
}

/// Whether a name matches a pattern, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some((_, behind)) = rest.split_once(before) else { return false };
            rest = behind;
        }
    }
    last.is_none_or(|last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("gpt-*", "gpt-5.4", true),
            ("gpt-*", "gpt", false),
            ("*", "", true),
            ("*-mini", "gpt-5-mini", true),
            ("*-mini", "gpt-5-mini-x", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*a", "a", false),
            ("plain", "plain", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_longest_pattern_counts_and_the_name_itself_before_it() {
        let setup = |pattern: &str| ModelSetup {
            pattern: pattern.to_owned(),
            targets: Vec::new(),
            answers_as_asked: false,
            strict: None,
        };
        let models = ["*", "gpt-*", "gpt-5*", "gpt-5"].map(setup);
        for (asked, expected) in [("gpt-5", "gpt-5"), ("gpt-5.4", "gpt-5*"), ("gpt-4", "gpt-*"), ("o3", "*")] {
            assert_eq!(best(&models, asked).map(|setup| setup.pattern.as_str()), Some(expected));
        }
    }
}
