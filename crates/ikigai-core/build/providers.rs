//! `data/providers.toml` as `providers.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Result;
use super::code::{flag, list, str_of, table, text, word};

pub(crate) fn provider_table(providers: &Table) -> Result<String> {
    let mut rows = String::new();
    let mut names = BTreeMap::new();
    for (place, (id, row)) in providers.iter().enumerate() {
        let mut row = table(row.clone(), id)?;
        for name in std::iter::once(id.clone()).chain(list(row.get("aliases"))?) {
            if names.insert(name.to_lowercase(), place).is_some() {
                return Err(format!("[{id}]: the name `{name}` belongs to another provider").into());
            }
        }
        let quirks = quirks(row.remove("quirks")).map_err(|error| format!("[{id}]: quirks: {error}"))?;
        let mut field = |name: &str| row.remove(name);
        let (name, docs, key_page) = (field("name"), field("docs"), field("key_page"));
        let (aliases, key_env, base_url_env) = (field("aliases"), field("key_env"), field("base_url_env"));
        let (also, headers, prefixes) = (field("also"), field("headers"), field("prefixes"));
        let (idempotency_header, unsupported) = (field("idempotency_header"), field("unsupported"));
        writeln!(
            rows,
            "    Provider {{ id: {}, name: {}, aliases: {}, dialect: {}, also: {}, base_url: {}, auth: {}, \
             key_env: {}, key_optional: {}, base_url_env: {}, docs: {}, key_page: {}, prefixes: {}, maker_dialect: {}, \
             headers: {}, idempotency_header: {}, unsupported: {}, quirks: {quirks} }},",
            text(id),
            text(str_of(name.as_ref())?),
            texts(list(aliases.as_ref())?),
            field("dialect").map_or(Ok("Dialect::OpenaiChat".to_owned()), |value| word("Dialect", &value))?,
            pairs(also, |name| word("Dialect", &Value::String(name.to_owned())))?,
            text(str_of(field("base_url").as_ref())?),
            field("auth").map_or(Ok("Auth::Bearer".to_owned()), |value| word("Auth", &value))?,
            texts(list(key_env.as_ref())?),
            flag(field("key_optional").as_ref())?,
            texts(list(base_url_env.as_ref())?),
            text(str_of(docs.as_ref())?),
            text(str_of(key_page.as_ref())?),
            texts(list(prefixes.as_ref())?),
            flag(field("maker_dialect").as_ref())?,
            pairs(headers, |name| Ok(text(name)))?,
            text(str_of(idempotency_header.as_ref())?),
            text(str_of(unsupported.as_ref())?),
        )?;
        if let Some(unknown) = row.keys().next() {
            return Err(format!("[{id}]: unknown key `{unknown}`").into());
        }
    }
    let mut code = String::new();
    writeln!(code, "static BUILT_IN: [Provider; {}] = [\n{rows}];", providers.len())?;
    writeln!(code, "static NAMES: [(&str, u16); {}] = [", names.len())?;
    for (name, place) in names {
        writeln!(code, "    ({name:?}, {place}),")?;
    }
    code.push_str("];\n");
    Ok(code)
}

/// The quirks of a row: the default, with those that it has.
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

/// The quirks of each dialect that are flags. The others are words or texts.
const FLAGS: [(&str, &str); 19] = [
    ("chat", "no_stream_options"),
    ("chat", "no_strict_tools"),
    ("chat", "no_json_schema"),
    ("chat", "no_specific_tool"),
    ("chat", "no_tools_on_none"),
    ("chat", "no_closed_schemas"),
    ("chat", "tool_ids_of_nine"),
    ("chat", "no_null_content"),
    ("chat", "no_user_after_tool"),
    ("chat", "cache_control"),
    ("chat", "top_k"),
    ("chat", "web_search_tool"),
    ("chat", "web_search_options"),
    ("responses", "no_store"),
    ("responses", "flat_tools"),
    ("gemini", "no_call_ids"),
    ("gemini", "exclude_domains"),
    ("gemini", "no_tool_invocations"),
    ("gemini", "openapi_schemas"),
];

/// The statement that sets one quirk. Words are variants of an enum, which follows from the field.
fn assign_quirk(group: &str, quirk: &str, value: &Value) -> Result<String> {
    if FLAGS.contains(&(group, quirk)) {
        return Ok(format!(" quirks.{group}.{quirk} = {};", flag(Some(value))?));
    }
    let kind = match (group, quirk) {
        ("chat", "max_tokens") => "MaxTokensField",
        ("chat", "system_role") => "SystemRole",
        ("chat", "tool_choice_required") => "RequiredChoice",
        ("chat", "reasoning_request") => "ReasoningRequest",
        ("chat", "reasoning_field") => "ReasoningField",
        ("chat", "replay_reasoning") => "ReplayReasoning",
        ("chat", "seed") => "SeedField",
        // The old value is forgotten, because a constant may not run destructors.
        ("anthropic", "version") => {
            let value = text(str_of(Some(value))?);
            return Ok(format!(" std::mem::forget(quirks.anthropic.version.replace({value}));"));
        }
        ("anthropic", "models") => {
            let value = texts(list(Some(value))?);
            return Ok(format!(" std::mem::forget(quirks.anthropic.models.replace({value}));"));
        }
        _ => return Err("unknown quirk".into()),
    };
    Ok(format!(" quirks.{group}.{quirk} = super::{};", word(kind, value)?))
}

fn texts(values: Vec<String>) -> String {
    let values: Vec<String> = values.iter().map(|value| text(value)).collect();
    // A block with a static of its own: a constant may not borrow a list of things with destructors otherwise.
    match values.len() {
        0 => "Cow::Borrowed(&[])".to_owned(),
        count => {
            format!("{{ static LIST: [Cow<'static, str>; {count}] = [{}]; Cow::Borrowed(&LIST) }}", values.join(", "))
        }
    }
}

fn pairs(value: Option<Value>, key: impl Fn(&str) -> Result<String>) -> Result<String> {
    let Some(value) = value else { return Ok("Cow::Borrowed(&[])".to_owned()) };
    let mut items = Vec::new();
    for (name, value) in table(value, "pairs")? {
        items.push(format!("({}, {})", key(&name)?, text(str_of(Some(&value))?)));
    }
    let kind = if items.iter().all(|item| item.starts_with("(Dialect::")) { "Dialect" } else { "Cow<'static, str>" };
    Ok(format!(
        "{{ static LIST: [({kind}, Cow<'static, str>); {}] = [{}]; Cow::Borrowed(&LIST) }}",
        items.len(),
        items.join(", ")
    ))
}
