//! Compiles `data/providers.toml` to `providers.rs` and `providers.bin`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Result;
use super::code::{flag, list, str_of, table, text, word};
use super::packed::{Pools, Row};

/// Returns the code and the rows.
pub(crate) fn provider_table(providers: &Table) -> Result<(String, Vec<u8>)> {
    let (mut pools, mut rows, mut starts) = (Pools::default(), Row::default(), Vec::new());
    let mut names = BTreeMap::new();
    for (place, (id, row)) in providers.iter().enumerate() {
        let row = table(row.clone(), id)?;
        for name in std::iter::once(id.clone()).chain(list(row.get("aliases"))?) {
            if names.insert(name.to_lowercase(), place).is_some() {
                return Err(format!("[{id}]: the name `{name}` belongs to another provider").into());
            }
        }
        starts.push(rows.0.len());
        provider(id, row, &mut rows, &mut pools).map_err(|error| format!("[{id}]: {error}"))?;
    }
    let mut code = pools.code();
    writeln!(code, "static STARTS: [u32; {}] = {starts:?};", starts.len())?;
    writeln!(code, "static NAMES: [(&str, u16); {}] = [", names.len())?;
    for (name, place) in names {
        writeln!(code, "    ({name:?}, {place}),")?;
    }
    code.push_str("];\n");
    Ok((code, rows.0))
}

/// Writes a provider's row. `src/provider/built_in.rs` reads the same fields in the same order.
fn provider(id: &str, mut row: Table, to: &mut Row, pools: &mut Pools) -> Result<()> {
    to.text(id)?;
    for field in ["name", "base_url", "docs", "key_page", "idempotency_header", "unsupported"] {
        to.text(str_of(row.remove(field).as_ref())?)?;
    }
    for field in ["aliases", "key_env", "base_url_env", "prefixes"] {
        to.texts(&list(row.remove(field).as_ref())?)?;
    }
    for field in ["key_optional", "maker_dialect"] {
        to.number(u64::from(flag(row.remove(field).as_ref())?));
    }
    let dialect =
        row.remove("dialect").map_or(Ok("Dialect::OpenaiChat".to_owned()), |value| word("Dialect", &value))?;
    to.number(pools.place("DIALECTS", "Dialect", dialect)?);
    let auth = row.remove("auth").map_or(Ok("Auth::Bearer".to_owned()), |value| word("Auth", &value))?;
    to.number(pools.place("AUTHS", "Auth", auth)?);
    let also = pairs(row.remove("also"))?;
    to.number(u64::try_from(also.len())?);
    for (dialect, url) in also {
        to.number(pools.place("DIALECTS", "Dialect", word("Dialect", &Value::String(dialect))?)?);
        to.text(&url)?;
    }
    let headers = pairs(row.remove("headers"))?;
    to.number(u64::try_from(headers.len())?);
    for (name, value) in headers {
        to.text(&name)?;
        to.text(&value)?;
    }
    let quirks = quirks(row.remove("quirks")).map_err(|error| format!("quirks: {error}"))?;
    to.number(pools.place("QUIRKS", "Quirks", quirks)?);
    match row.keys().next() {
        Some(unknown) => Err(format!("unknown key `{unknown}`").into()),
        None => Ok(()),
    }
}

/// Returns the quirks of a row: the default, with the row's own.
fn quirks(value: Option<Value>) -> Result<String> {
    let Some(value) = value else { return Ok("Quirks::NONE".to_owned()) };
    let mut code = String::from("{ let mut quirks = Quirks::NONE;");
    for (group, value) in table(value, "quirks")? {
        for (quirk, value) in table(value, &group)? {
            let assigned = assign_quirk(&group, &quirk, &value).map_err(|error| format!("{group}.{quirk}: {error}"))?;
            code.push_str(&assigned);
        }
    }
    Ok(code + " quirks }")
}

/// Returns the statement that sets one quirk. Words are variants of an enum that follows from the field.
fn assign_quirk(group: &str, quirk: &str, value: &Value) -> Result<String> {
    if let Value::Boolean(flag) = value {
        // A flag that does not exist does not compile; the compiler then lists those that do.
        return Ok(format!(" quirks.{group}.{quirk} = {flag};"));
    }
    let kind = match (group, quirk) {
        ("chat", "max_tokens") => "MaxTokensField",
        ("chat", "system_role") => "SystemRole",
        ("chat", "tool_choice_required") => "RequiredChoice",
        ("chat", "reasoning_request") => "ReasoningRequest",
        ("chat", "reasoning_field") => "ReasoningField",
        ("chat", "replay_reasoning") => "ReplayReasoning",
        ("chat", "seed") => "SeedField",
        // The old value is forgotten, because a constant cannot run destructors.
        ("anthropic", "version") => {
            let value = text(str_of(Some(value))?);
            return Ok(format!(" std::mem::forget(quirks.anthropic.version.replace({value}));"));
        }
        ("anthropic", "models") => {
            let value = texts(list(Some(value))?);
            return Ok(format!(" std::mem::forget(quirks.anthropic.models.replace({value}));"));
        }
        _ => return Err("it is neither true nor false, nor one of the quirks with words in build/providers.rs".into()),
    };
    Ok(format!(" quirks.{group}.{quirk} = super::{};", word(kind, value)?))
}

fn texts(values: Vec<String>) -> String {
    let values: Vec<String> = values.iter().map(|value| text(value)).collect();
    // A block with its own static: otherwise a constant cannot borrow a list of things with destructors.
    match values.len() {
        0 => "Cow::Borrowed(&[])".to_owned(),
        count => {
            format!("{{ static LIST: [Cow<'static, str>; {count}] = [{}]; Cow::Borrowed(&LIST) }}", values.join(", "))
        }
    }
}

fn pairs(value: Option<Value>) -> Result<Vec<(String, String)>> {
    let pairs = value.map_or(Ok(Table::new()), |value| table(value, "pairs"))?;
    pairs.into_iter().map(|(name, value)| Ok((name, str_of(Some(&value))?.to_owned()))).collect()
}
