//! Compiles `data/models/*.toml` to `models.rs` and `models.bin`: the rows as bytes, and the code that finds them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Result;
use super::code::{flag, list, number, str_of, table, word};
use super::hash::hash;
use super::packed::{Pools, Row};

pub(crate) struct Model {
    pub(crate) file: String,
    pub(crate) provider: String,
    pub(crate) id: String,
    pub(crate) row: Table,
}

impl Model {
    /// Returns its id, aliases and nicknames, in the order in which the table of names numbers them.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = vec![self.id.clone()];
        names.extend(list(self.row.get("aliases"))?);
        names.extend(list(self.row.get("nicknames"))?);
        Ok(names)
    }
}

/// Returns the code and the rows.
pub(crate) fn model_table(models: Vec<Model>) -> Result<(String, Vec<u8>)> {
    let mut pools = Pools::default();
    let mut rows = Row::default();
    let mut starts = Vec::new();
    // Every name with its models: lower case, sorted, so that equal names are adjacent.
    let mut names = BTreeMap::<(String, String), (usize, usize)>::new();
    for (place, model) in models.iter().enumerate() {
        for (which, name) in model.names()?.into_iter().enumerate() {
            let key = (name.to_lowercase(), model.provider.clone());
            if names.insert(key, (place, which)).is_some() {
                return Err(format!("{}: {} has two models called {name}", model.file, model.provider).into());
            }
        }
        starts.push(rows.0.len());
        let row = facts(model, &mut rows, &mut pools);
        row.map_err(|error| format!("{}: [{}.{:?}]: {error}", model.file, model.provider, model.id))?;
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
    // At most half full, so that a search ends soon.
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

    let mut code = pools.code();
    writeln!(code, "static STARTS: [u32; {}] = {starts:?};", starts.len())?;
    writeln!(code, "static NAMES: [(u16, u8); {}] = [", names.len())?;
    for (place, which) in names.values() {
        write!(code, "({place}, {which}), ")?;
    }
    writeln!(code, "\n];\nstatic SLOTS: [u16; {size}] = {slots:?};")?;
    Ok((code, rows.0))
}

/// Writes a model's row. `src/catalog/built_in.rs` reads the same fields in the same order.
fn facts(model: &Model, to: &mut Row, pools: &mut Pools) -> Result<()> {
    let mut row = model.row.clone();
    let (aliases, nicknames) = (list(row.remove("aliases").as_ref())?, list(row.remove("nicknames").as_ref())?);
    to.number(u64::try_from(aliases.len())?);
    to.number(u64::try_from(nicknames.len())?);
    to.text(&model.id)?;
    for name in aliases.iter().chain(&nicknames) {
        to.text(name)?;
    }
    to.number(pools.place("PROVIDERS", "&str", format!("{:?}", model.provider))?);
    to.text(str_of(row.remove("name").as_ref())?)?;
    for field in ["released", "retires", "knowledge"] {
        to.text(str_of(row.remove(field).as_ref())?)?;
    }
    for field in ["context", "max_input", "max_output"] {
        to.optional(row.remove(field).map(|value| number(&value)).transpose()?.map(u64::from));
    }
    for price in prices(row.remove("prices"))? {
        to.optional(price);
    }
    let mut tiers = Vec::new();
    for tier in array(row.remove("tiers"))? {
        let mut tier = table(tier, "tiers")?;
        let above = number(tier.get("above").ok_or("a tier without `above`")?)?;
        let [input, output, cache_read, cache_write, thinking] = prices(tier.remove("prices"))?;
        let prices = format!(
            "Prices {{ input: {input:?}, output: {output:?}, cache_read: {cache_read:?}, cache_write: {cache_write:?}, \
             thinking: {thinking:?} }}"
        );
        tiers.push((above, format!("TierPrices {{ above: {above}, prices: {prices} }}")));
    }
    tiers.sort_by_key(|(above, _)| *above);
    let tiers: Vec<String> = tiers.into_iter().map(|(_, code)| code).collect();
    to.number(pools.place("TIERS", "&[TierPrices]", format!("&[{}]", tiers.join(", ")))?);
    for (field, pool, kind) in
        [("input", "MODALITIES", "Modality"), ("output", "MODALITIES", "Modality"), ("efforts", "EFFORTS", "Level")]
    {
        let words = list(row.remove(field).as_ref())?;
        let items: Vec<String> =
            words.into_iter().map(|item| word(kind, &Value::String(item))).collect::<Result<_>>()?;
        to.number(pools.place(pool, &format!("&[{kind}]"), format!("&[{}]", items.join(", ")))?);
    }
    for field in ["thinking", "tools", "structured_output", "temperature"] {
        let flag = row.remove(field).map(|value| flag(Some(&value))).transpose()?;
        to.optional(flag.map(u64::from));
    }
    let dialect = match row.remove("dialect") {
        Some(value) => format!("Some({})", word("Dialect", &value)?),
        None => "None".to_owned(),
    };
    to.number(pools.place("DIALECTS", "Option<Dialect>", dialect)?);
    let status = row.remove("status").map_or(Ok("Status::Active".to_owned()), |value| word("Status", &value))?;
    to.number(pools.place("STATUSES", "Status", status)?);
    match row.keys().next() {
        Some(unknown) => Err(format!("unknown key `{unknown}`").into()),
        None => Ok(()),
    }
}

fn prices(value: Option<Value>) -> Result<[Option<u64>; 5]> {
    let mut row = value.map_or(Ok(Table::new()), |value| table(value, "prices"))?;
    let mut price = |field: &str| -> Result<Option<u64>> {
        // Dollars per million tokens, multiplied by a million, are micro-dollars.
        match row.remove(field) {
            // At most 10^15, which both kinds of numbers represent exactly.
            Some(Value::Float(dollars)) if (0.0..=1e9).contains(&dollars) => Ok(Some((dollars * 1e6).round() as u64)),
            Some(Value::Integer(dollars)) if dollars >= 0 => Ok(Some(u64::try_from(dollars)? * 1_000_000)),
            Some(other) => Err(format!("`{other}` is not a price").into()),
            None => Ok(None),
        }
    };
    let prices = [price("input")?, price("output")?, price("cache_read")?, price("cache_write")?, price("thinking")?];
    match row.keys().next() {
        Some(unknown) => Err(format!("unknown price `{unknown}`").into()),
        None => Ok(prices),
    }
}

fn array(value: Option<Value>) -> Result<Vec<Value>> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(format!("`{other}` is not a list").into()),
    }
}
