//! Settings, and the prompts that were typed.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::sql::{Operation, Session, params};
use crate::{Time, json};

/// How many prompts are remembered.
const MOST_PROMPTS: i64 = 10_000;

fn value(key: &str, text: &str) -> Result<Json> {
    json::read(text).map_err(|fault| Error::corrupt(format!("the setting `{key}` cannot be read: {fault}")))
}

/// Checks a key: keys are names, not free text.
fn check(key: &str) -> Result<()> {
    match key {
        "" => Err(Error::invalid("a setting needs a name")),
        key if key.len() > 256 => Err(Error::invalid("the name of a setting is longer than 256 bytes")),
        key if key.contains(char::is_control) => {
            Err(Error::invalid(format!("the setting `{}` has control characters in its name", key.escape_debug())))
        }
        _ => Ok(()),
    }
}

/// Reads a setting.
#[derive(Debug)]
pub(crate) struct GetSetting(pub(crate) String);

impl Operation for GetSetting {
    type Output = Option<Json>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Json>> {
        check(&self.0)?;
        match session.first("SELECT value FROM settings WHERE name = $1", params![&self.0]).await? {
            Some(mut row) => value(&self.0, &row.text(0)?).map(Some),
            None => Ok(None),
        }
    }
}

/// Sets a setting, or removes it if there is no value.
#[derive(Debug)]
pub(crate) struct SetSetting {
    pub(crate) key: String,
    pub(crate) value: Option<Json>,
}

impl Operation for SetSetting {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        check(&self.key)?;
        match &self.value {
            None => session.execute("DELETE FROM settings WHERE name = $1", params![&self.key]).await.map(drop),
            Some(value) => {
                let text = json::write("the setting", value)?;
                let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) \
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                session.execute(sql, params![&self.key, text]).await.map(drop)
            }
        }
    }
}

/// Reads all settings.
#[derive(Debug)]
pub(crate) struct AllSettings;

impl Operation for AllSettings {
    type Output = BTreeMap<String, Json>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<BTreeMap<String, Json>> {
        let mut settings = BTreeMap::new();
        for mut row in session.query("SELECT name, value FROM settings", &[]).await? {
            let key = row.text(0)?;
            let value = value(&key, &row.text(1)?)?;
            settings.insert(key, value);
        }
        Ok(settings)
    }
}

/// Remembers a prompt.
#[derive(Debug)]
pub(crate) struct RememberPrompt(pub(crate) String);

impl Operation for RememberPrompt {
    type Output = ();
    /// The oldest are deleted if there are too many, but need not be gone from the files.
    const DELETES: bool = false;

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        // A leading space keeps a prompt out of the history, as in a shell.
        if self.0.starts_with(' ') || self.0.trim().is_empty() {
            return Ok(());
        }
        // As JSON, which can hold every character.
        let text = json::write("the prompt", &self.0)?;
        if let Some(mut row) = session.first("SELECT text FROM prompts ORDER BY n DESC LIMIT 1", &[]).await?
            && row.text(0)? == text
        {
            return Ok(());
        }
        let sql = "INSERT INTO prompts (text, created) VALUES ($1, $2) RETURNING n";
        let row = session.first(sql, params![text, Time::now().unix_micros()]).await?;
        let n = row.ok_or_else(|| Error::internal("an insert gave no key"))?.int(0)?;
        session.execute("DELETE FROM prompts WHERE n <= $1", params![n - MOST_PROMPTS]).await.map(drop)
    }
}

/// Reads the prompts that were typed last, oldest first.
#[derive(Debug)]
pub(crate) struct Prompts(pub(crate) u32);

impl Operation for Prompts {
    type Output = Vec<String>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<String>> {
        let sql = "SELECT text FROM prompts ORDER BY n DESC LIMIT $1";
        let mut prompts = Vec::new();
        for mut row in session.query(sql, params![i64::from(self.0)]).await? {
            let prompt = json::read(&row.text(0)?);
            prompts.push(prompt.map_err(|fault| Error::corrupt(format!("a prompt cannot be read: {fault}")))?);
        }
        prompts.reverse();
        Ok(prompts)
    }
}
