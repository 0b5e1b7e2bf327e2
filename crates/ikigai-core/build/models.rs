//! `data/models/*.toml` as `models.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Result;
use super::code::{flag, list, number, str_of, table, text, word};
use super::hash::hash;

pub(crate) struct Model {
    pub(crate) file: String,
    pub(crate) provider: String,
    pub(crate) id: String,
    pub(crate) row: Table,
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

pub(crate) fn model_table(models: Vec<Model>) -> Result<String> {
    let mut lists = Lists::default();
    let mut rows = String::new();
    // Every name, with the models that it may mean: lower case, in order, so that equal names stand together.
    let mut names = BTreeMap::<(String, String), (usize, usize)>::new();
    for (place, model) in models.iter().enumerate() {
        for (which, name) in model.names()?.into_iter().enumerate() {
            let key = (name.to_lowercase(), model.provider.clone());
            if names.insert(key, (place, which)).is_some() {
                return Err(format!("{}: {} has two models called {name}", model.file, model.provider).into());
            }
        }
        let row = facts(model, &mut lists);
        let row = row.map_err(|error| format!("{}: [{}.{:?}]: {error}", model.file, model.provider, model.id))?;
        writeln!(rows, "    {row},")?;
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
        let words = list(row.remove(field).as_ref())?;
        let items: Vec<String> =
            words.into_iter().map(|item| word(kind, &Value::String(item))).collect::<Result<_>>()?;
        write!(code, ", {field}: {}", lists.place(kind, &items)?)?;
    }
    for field in ["thinking", "tools", "structured_output", "temperature"] {
        match row.remove(field) {
            Some(value) => write!(code, ", {field}: Some({})", flag(Some(&value))?)?,
            None => write!(code, ", {field}: None")?,
        }
    }
    let spoken = match row.remove("dialect") {
        Some(value) => format!("Some({})", word("Dialect", &value)?),
        None => "None".to_owned(),
    };
    let status = row.remove("status").map_or(Ok("Status::Active".to_owned()), |value| word("Status", &value))?;
    write!(code, ", dialect: {spoken}, status: {status} }}")?;
    match row.keys().next() {
        Some(unknown) => Err(format!("unknown key `{unknown}`").into()),
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
            Some(other) => return Err(format!("`{other}` is not a price").into()),
            None => "None".to_owned(),
        };
        write!(code, "{field}: {price}, ")?;
    }
    match row.keys().next() {
        Some(unknown) => Err(format!("unknown price `{unknown}`").into()),
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

fn array(value: Option<Value>) -> Result<Vec<Value>> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(format!("`{other}` is not a list").into()),
    }
}
