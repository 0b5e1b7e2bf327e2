//! The models of `data/models/*.toml`, as compiled by the build script.

use std::borrow::Cow;

use super::facts::{Facts, Modality, Prices, Status, TierPrices};
use super::hash::hash;
use super::packed::{Packed, Row};
use crate::{Dialect, Level};

// `STARTS`: the start of each row. `NAMES`: every name of every model, as the position of the model and the number of
// the name, sorted by name. `SLOTS`: a hash table with the first position of a name in `NAMES`; collisions go to the
// next slot. The others are the values that many rows share.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The rows.
pub(super) static MODELS: Packed<Facts> =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/models.bin")), &STARTS, facts);

/// Returns all models with this name, at most one per provider. It takes one hash, however many models there are.
pub(super) fn named<'a>(name: &str) -> impl Iterator<Item = &'a Facts> {
    first(name).into_iter().flat_map(move |place| {
        let names = NAMES.get(place..).unwrap_or_default().iter();
        let same = names.take_while(move |entry| is_called(**entry, name));
        same.filter_map(|(place, _)| MODELS.get(usize::from(*place)))
    })
}

fn first(name: &str) -> Option<usize> {
    let start = hash(name) as usize;
    for step in 0..SLOTS.len() {
        let place = usize::from(*SLOTS.get(start.wrapping_add(step) % SLOTS.len())?);
        if is_called(*NAMES.get(place)?, name) {
            return Some(place);
        }
    }
    None
}

fn is_called((place, which): (u16, u8), name: &str) -> bool {
    let known = || {
        let mut row = MODELS.row(usize::from(place))?;
        let (_, _) = (row.number()?, row.number()?);
        for _ in 0..which {
            row.bytes()?;
        }
        row.bytes()
    };
    known().is_some_and(|known| known.eq_ignore_ascii_case(name.as_bytes()))
}

/// Reads a row. `build/models.rs` writes the same fields in the same order.
fn facts(mut row: Row) -> Option<Facts> {
    let (aliases, nicknames) = (row.number()?, row.number()?);
    let id = row.text()?;
    let (aliases, nicknames) = (row.texts(aliases)?, row.texts(nicknames)?);
    Some(Facts {
        provider: Cow::Borrowed(row.one_of(&PROVIDERS)?),
        id,
        name: row.text()?,
        aliases,
        nicknames,
        released: row.optional_text()?,
        retires: row.optional_text()?,
        knowledge: row.optional_text()?,
        context: row.optional()?,
        max_input: row.optional()?,
        max_output: row.optional()?,
        prices: Prices {
            input: row.optional()?,
            output: row.optional()?,
            cache_read: row.optional()?,
            cache_write: row.optional()?,
            thinking: row.optional()?,
        },
        tiers: Cow::Borrowed(row.one_of(&TIERS)?),
        input: Cow::Borrowed(row.one_of(&MODALITIES)?),
        output: Cow::Borrowed(row.one_of(&MODALITIES)?),
        efforts: Cow::Borrowed(row.one_of(&EFFORTS)?),
        thinking: row.flag()?,
        tools: row.flag()?,
        structured_output: row.flag()?,
        temperature: row.flag()?,
        dialect: row.one_of(&DIALECTS)?,
        status: row.one_of(&STATUSES)?,
    })
}
