//! Turns the data files into tables that are part of the program, so that nothing is parsed when it starts.
//!
//! `data/providers.toml` becomes `providers.rs`, `data/models/*.toml` becomes `models.rs`. A broken file stops the build
//! and says where; a test compares the tables with the files as a user's file would be read.

#[path = "src/catalog/hash.rs"]
mod hash;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use hash::hash;
use toml::{Table, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data/providers.toml");
    println!("cargo::rerun-if-changed=data/models");
    println!("cargo::rerun-if-changed=src/catalog/hash.rs");
    let out = env::var("OUT_DIR")?;
    let providers: Table = fs::read_to_string("data/providers.toml")?.parse()?;
    fs::write(Path::new(&out).join("providers.rs"), provider_table(&providers)?)?;

    let mut models = Vec::new();
    let mut files: Vec<_> = fs::read_dir("data/models")?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(|file| file.file_name());
    for file in files {
        let path = file.path();
        let rows: Table = fs::read_to_string(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        for (provider, rows) in rows {
            if !providers.contains_key(&provider) {
                return Err(format!("{}: no provider is called {provider}", path.display()).into());
            }
            for (id, row) in table(rows, &provider)? {
                let row = table(row, &id)?;
                models.push(Model { provider: provider.clone(), id, row });
            }
        }
    }
    fs::write(Path::new(&out).join("models.rs"), model_table(models)?)?;
    Ok(())
}

fn provider_table(providers: &Table) -> Result<String> {
    let mut rows = String::new();
    let mut names = BTreeMap::new();
    for (place, (id, row)) in providers.iter().enumerate() {
        let mut row = table(row.clone(), id)?;
        for name in std::iter::once(id.clone()).chain(list(row.get("aliases"))?) {
            if names.insert(name.to_lowercase(), place).is_some() {
                return Err(format!("data/providers.toml: {id}: `{name}` is taken").into());
            }
        }
        let quirks = quirks(row.remove("quirks")).map_err(|error| format!("{id}.quirks: {error}"))?;
        let mut field = |name: &str| row.remove(name);
        let (name, docs, key_page) = (field("name"), field("docs"), field("key_page"));
        let (aliases, key_env, base_url_env) = (field("aliases"), field("key_env"), field("base_url_env"));
        let (also, headers, prefixes) = (field("also"), field("headers"), field("prefixes"));
        let unsupported = field("unsupported");
        writeln!(
            rows,
            "    Provider {{ id: {}, name: {}, aliases: {}, dialect: {}, also: {}, base_url: {}, auth: Auth::{}, \
             key_env: {}, key_optional: {}, base_url_env: {}, docs: {}, key_page: {}, prefixes: {}, maker_dialect: {}, \
             headers: {}, unsupported: {}, quirks: {quirks} }},",
            text(id),
            text(str_of(name.as_ref())?),
            texts(list(aliases.as_ref())?),
            dialect(field("dialect").as_ref().map_or(Ok("openai-chat"), |word| str_of(Some(word)))?),
            pairs(also, dialect)?,
            text(str_of(field("base_url").as_ref())?),
            pascal(field("auth").as_ref().map_or(Ok("bearer"), |word| str_of(Some(word)))?),
            texts(list(key_env.as_ref())?),
            flag(field("key_optional").as_ref())?,
            texts(list(base_url_env.as_ref())?),
            text(str_of(docs.as_ref())?),
            text(str_of(key_page.as_ref())?),
            texts(list(prefixes.as_ref())?),
            flag(field("maker_dialect").as_ref())?,
            pairs(headers, text)?,
            text(str_of(unsupported.as_ref())?),
        )?;
        if let Some(unknown) = row.keys().next() {
            return Err(format!("data/providers.toml: {id}: `{unknown}` is no key").into());
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

fn quirks(value: Option<Value>) -> Result<String> {
    let Some(value) = value else { return Ok("Quirks::NONE".to_owned()) };
    let mut code = String::from("{ let mut quirks = Quirks::NONE;");
    for (quirk, value) in table(value, "quirks")? {
        code.push_str(&assign_quirk(&quirk, &value)?);
    }
    Ok(code + " quirks }")
}

/// What sets one quirk. Words are variants of an enum, which is known by the field.
fn assign_quirk(quirk: &str, value: &Value) -> Result<String> {
    if let Value::Boolean(value) = value {
        return Ok(format!(" quirks.{quirk} = {value};"));
    }
    if quirk == "converse_except" {
        let value = texts(list(Some(value))?);
        return Ok(format!(" std::mem::forget(quirks.{quirk}.replace({value}));"));
    }
    let word = str_of(Some(value))?;
    let kind = match quirk {
        "max_tokens" => "MaxTokensField",
        "system_role" => "SystemRole",
        "tool_choice_required" => "RequiredWord",
        "reasoning_request" => "ReasoningRequest",
        "reasoning_field" => "ReasoningField",
        "replay_reasoning" => "ReplayReasoning",
        "seed" => "SeedField",
        // The old value is forgotten, because a constant may not run destructors.
        "anthropic_version" => {
            let value = text(word);
            return Ok(format!(" std::mem::forget(quirks.{quirk}.replace({value}));"));
        }
        other => return Err(format!("`{other}` is not known to the build script").into()),
    };
    Ok(format!(" quirks.{quirk} = super::{kind}::{};", pascal(word)))
}

struct Model {
    provider: String,
    id: String,
    row: Table,
}

impl Model {
    /// Its id, aliases and nicknames, as the table of names counts them.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = vec![self.id.clone()];
        names.extend(list(self.row.get("aliases"))?);
        names.extend(list(self.row.get("nicknames"))?);
        Ok(names)
    }
}

fn model_table(models: Vec<Model>) -> Result<String> {
    let mut lists = Lists::default();
    let mut rows = String::new();
    // Every name, with the models that it may mean: lower case, in order, so that equal names stand together.
    let mut names = BTreeMap::<(String, String), (usize, usize)>::new();
    for (place, model) in models.iter().enumerate() {
        for (which, name) in model.names()?.into_iter().enumerate() {
            let key = (name.to_lowercase(), model.provider.clone());
            if names.insert(key, (place, which)).is_some() {
                return Err(format!("data/models: {} has two models called {name}", model.provider).into());
            }
        }
        let row = facts(model, &mut lists);
        writeln!(rows, "    {},", row.map_err(|error| format!("{}.{}: {error}", model.provider, model.id))?)?;
    }

    let distinct: Vec<(usize, &str)> = {
        let mut distinct: Vec<(usize, &str)> = Vec::new();
        for (place, (name, _)) in names.keys().enumerate() {
            if distinct.last().is_none_or(|(_, last)| *last != name.as_str()) {
                distinct.push((place, name));
            }
        }
        distinct
    };
    // Half empty at most, so that a search ends soon.
    let size = (distinct.len() * 2).next_power_of_two();
    let mut slots = vec![u16::MAX; size];
    for (place, name) in distinct {
        let mut slot = hash(name) as usize % size;
        while slots.get(slot).is_some_and(|taken| *taken != u16::MAX) {
            slot = (slot + 1) % size;
        }
        if let Some(free) = slots.get_mut(slot) {
            *free = u16::try_from(place)?;
        }
    }

    let mut code = lists.code;
    writeln!(code, "pub(super) static MODELS: [Facts; {}] = [\n{rows}];", models.len())?;
    writeln!(code, "pub(super) static NAMES: [(u16, u8); {}] = [", names.len())?;
    for (place, which) in names.values() {
        write!(code, "({place}, {which}), ")?;
    }
    writeln!(code, "\n];\npub(super) static SLOTS: [u16; {size}] = {slots:?};")?;
    Ok(code)
}

fn facts(model: &Model, lists: &mut Lists) -> Result<String> {
    let mut row = model.row.clone();
    let mut code = format!("Facts {{ provider: {}, id: {}", text(&model.provider), text(&model.id));
    let name = row.remove("name");
    write!(code, ", name: {}", text(str_of(name.as_ref())?))?;
    for field in ["aliases", "nicknames"] {
        let items: Vec<String> = list(row.remove(field).as_ref())?.iter().map(|item| text(item)).collect();
        write!(code, ", {field}: {}", lists.place("Cow<'static, str>", &items)?)?;
    }
    for field in ["released", "retires", "knowledge"] {
        let value = row.remove(field);
        match value.as_ref() {
            Some(value) => write!(code, ", {field}: Some({})", text(str_of(Some(value))?))?,
            None => write!(code, ", {field}: None")?,
        }
    }
    for field in ["context", "max_input", "max_output"] {
        match row.remove(field) {
            Some(value) => write!(code, ", {field}: Some({})", number(&value)?)?,
            None => write!(code, ", {field}: None")?,
        }
    }
    write!(code, ", prices: {}", prices(row.remove("prices"))?)?;
    let mut tiers = Vec::new();
    for tier in array(row.remove("tiers"))? {
        let mut tier = table(tier, "tiers")?;
        let above = number(tier.get("above").ok_or("a tier without `above`")?)?;
        let code = format!("TierPrices {{ above: {above}, prices: {} }}", prices(tier.remove("prices"))?);
        tiers.push((above, code));
    }
    tiers.sort_by_key(|(above, _)| *above);
    let tiers: Vec<String> = tiers.into_iter().map(|(_, code)| code).collect();
    write!(code, ", tiers: {}", lists.place("TierPrices", &tiers)?)?;
    for (field, kind) in [("input", "Modality"), ("output", "Modality"), ("efforts", "Level")] {
        let items: Vec<String> =
            list(row.remove(field).as_ref())?.iter().map(|word| format!("{kind}::{}", pascal(word))).collect();
        write!(code, ", {field}: {}", lists.place(kind, &items)?)?;
    }
    for field in ["thinking", "tools", "structured_output", "temperature"] {
        match row.remove(field) {
            Some(value) => write!(code, ", {field}: Some({})", flag(Some(&value))?)?,
            None => write!(code, ", {field}: None")?,
        }
    }
    let spoken = match row.remove("dialect") {
        Some(word) => format!("Some({})", dialect(str_of(Some(&word))?)),
        None => "None".to_owned(),
    };
    let status = row.remove("status").map_or(Ok("Active".to_owned()), |word| str_of(Some(&word)).map(pascal))?;
    write!(code, ", dialect: {spoken}, status: Status::{status} }}")?;
    match row.keys().next() {
        Some(unknown) => Err(format!("`{unknown}` is no key").into()),
        None => Ok(code),
    }
}

fn prices(value: Option<Value>) -> Result<String> {
    let mut row = value.map_or(Ok(Table::new()), |value| table(value, "prices"))?;
    let mut code = String::from("Prices { ");
    for field in ["input", "output", "cache_read", "cache_write", "thinking"] {
        // Dollars a million tokens are micro-dollars a million times over.
        let price = match row.remove(field) {
            Some(Value::Float(dollars)) if (0.0..=1e9).contains(&dollars) => {
                format!("Some({})", (dollars * 1e6).round())
            }
            Some(Value::Integer(dollars)) if dollars >= 0 => format!("Some({}000000)", dollars),
            Some(other) => return Err(format!("`{other}` is no price").into()),
            None => "None".to_owned(),
        };
        write!(code, "{field}: {price}, ")?;
    }
    match row.keys().next() {
        Some(unknown) => Err(format!("`{unknown}` is no price").into()),
        None => Ok(code + "}"),
    }
}

/// Lists that stand as statics of their own, each only once.
#[derive(Default)]
struct Lists {
    code: String,
    known: BTreeMap<String, usize>,
}

impl Lists {
    fn place(&mut self, kind: &str, items: &[String]) -> Result<String> {
        if items.is_empty() {
            return Ok("Cow::Borrowed(&[])".to_owned());
        }
        let body = format!("[{kind}; {}] = [{}]", items.len(), items.join(", "));
        let next = self.known.len();
        let place = *self.known.entry(body.clone()).or_insert(next);
        if place == next {
            writeln!(self.code, "static LIST_{place}: {body};")?;
        }
        Ok(format!("Cow::Borrowed(&LIST_{place})"))
    }
}

fn text(value: &str) -> String {
    format!("Cow::Borrowed({value:?})")
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

fn pairs(value: Option<Value>, key: impl Fn(&str) -> String) -> Result<String> {
    let Some(value) = value else { return Ok("Cow::Borrowed(&[])".to_owned()) };
    let mut items = Vec::new();
    for (name, value) in table(value, "pairs")? {
        items.push(format!("({}, {})", key(&name), text(str_of(Some(&value))?)));
    }
    let kind = if items.iter().all(|item| item.starts_with("(Dialect::")) { "Dialect" } else { "Cow<'static, str>" };
    Ok(format!(
        "{{ static LIST: [({kind}, Cow<'static, str>); {}] = [{}]; Cow::Borrowed(&LIST) }}",
        items.len(),
        items.join(", ")
    ))
}

fn dialect(word: &str) -> String {
    format!("Dialect::{}", pascal(word))
}

/// A word as the variant of an enum: `max_tokens` is `MaxTokens`.
fn pascal(word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    word.split(['-', '_']).map(capital).collect()
}

fn str_of(value: Option<&Value>) -> Result<&str> {
    match value {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{other}` is no text").into()),
    }
}

fn list(value: Option<&Value>) -> Result<Vec<String>> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| str_of(Some(item)).map(str::to_owned)).collect(),
        Some(other) => Err(format!("`{other}` is no list of texts").into()),
    }
}

fn array(value: Option<Value>) -> Result<Vec<Value>> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(format!("`{other}` is no list").into()),
    }
}

fn table(value: Value, name: &str) -> Result<Table> {
    match value {
        Value::Table(table) => Ok(table),
        other => Err(format!("{name}: `{other}` is no table").into()),
    }
}

fn number(value: &Value) -> Result<u32> {
    Ok(u32::try_from(value.as_integer().ok_or_else(|| format!("`{value}` is no whole number"))?)?)
}

fn flag(value: Option<&Value>) -> Result<bool> {
    match value {
        None => Ok(false),
        Some(value) => Ok(value.as_bool().ok_or_else(|| format!("`{value}` is neither true nor false"))?),
    }
}
