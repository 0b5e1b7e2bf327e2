//! Overlays a user's file of providers on the table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;

use super::base_url::is_url;
use super::{Provider, Providers};
use crate::Dialect;
use crate::catalog::rows::{FileError, from_toml};

impl Providers {
    /// Overlays a user's TOML on this table, field by field. `file` is only used in messages.
    ///
    /// A new row needs a `base_url`. By default, its key variable is the id in capitals followed by `_API_KEY`, and its
    /// dialect is `openai-chat`. Base URLs may be written in the usual ways, with or without the version, as in
    /// [`Provider::base_url_for`]. A list replaces the existing one; `also`, `headers` and `quirks` are merged key by
    /// key.
    pub fn with_toml(&self, file: &str, text: &str) -> Result<Providers, FileError> {
        // Read twice: as rows, for errors with their place; and as bare values, to know which ones were given.
        let mut rows: BTreeMap<String, Provider> = from_toml(file, text)?;
        let values: BTreeMap<Spanned<String>, toml::Table> = from_toml(file, text)?;
        let mut table = self.clone();
        for (name, values) in values {
            let row = rows.remove(name.as_ref()).unwrap_or_default();
            let broken = |key: &str, message: String| {
                let offset = name.span().start;
                FileError::at(file, text, offset, format!("{}{key}", name.as_ref()), message)
            };
            let row = match self.find(name.as_ref()) {
                Some(below) => below.overlaid(values).map_err(|error| broken("", error.message().to_owned()))?,
                None => row.completed(name.as_ref()),
            };
            let urls = std::iter::once(&row.base_url).chain(row.also.iter().map(|(_, url)| url));
            for url in urls.filter(|url| !url.contains("${") && !url.is_empty()) {
                if !is_url(url) {
                    return Err(broken(
                        ".base_url",
                        format!("`{url}` is not a URL; it must start with https:// or http://"),
                    ));
                }
            }
            if row.base_url.is_empty() && row.unsupported.is_empty() {
                return Err(broken("", "a new provider needs a `base_url`".to_owned()));
            }
            if row.id.contains([':', '/']) || row.id.trim().is_empty() {
                return Err(broken("", "an id must not be empty or contain a colon or a slash".to_owned()));
            }
            let taken = row.names().find(|name| table.find(name).is_some_and(|other| other.id != row.id));
            if let Some(taken) = taken {
                return Err(broken(".aliases", format!("`{taken}` is the name of another provider")));
            }
            table.own.retain(|own| own.id != row.id);
            table.own.push(row);
        }
        Ok(table)
    }
}

impl Provider {
    /// Returns this row, overlaid with a user's values.
    fn overlaid(&self, values: toml::Table) -> Result<Provider, toml::de::Error> {
        let mut below = toml::Table::try_from(self).map_err(|error| serde::de::Error::custom(error.to_string()))?;
        let given: Vec<String> = values.keys().cloned().collect();
        lay_over(&mut below, values);
        let mut row: Provider = below.try_into()?;
        row.id = self.id.clone();
        if given.iter().any(|key| key == "base_url") {
            row.base_url = Cow::Owned(row.configured(&row.base_url, row.dialect));
            row.also = self.moved(&row);
        }
        Ok(row)
    }
}

impl Provider {
    /// Returns the additional base URLs of `row`, which is this row at another URL. Those that begin with the old URL
    /// get the new one, as with a variable, so that no dialect bypasses a proxy. Those that `row` sets itself are
    /// unchanged.
    fn moved(&self, row: &Provider) -> Cow<'static, [(Dialect, Cow<'static, str>)]> {
        let own = self.base_url.as_ref();
        let moved = row.also.iter().map(|(dialect, url)| {
            let rest = url.strip_prefix(own).filter(|rest| !own.is_empty() && rest.starts_with('/'));
            let url = match rest {
                Some(rest) if self.also.iter().any(|below| *below == (*dialect, url.clone())) => {
                    Cow::Owned(format!("{}{rest}", row.base_url.trim_end_matches('/')))
                }
                Some(_) | None => url.clone(),
            };
            (*dialect, url)
        });
        moved.collect()
    }
}

fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}
