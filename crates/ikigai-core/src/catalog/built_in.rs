//! The models of `data/models/*.toml`, as the build script made them.

use std::borrow::Cow;

use super::facts::{Facts, Modality, Prices, Status, TierPrices};
use super::hash::hash;
use super::packed::{Packed, Row};
use crate::{Dialect, Level};

// `STARTS`: where each row begins. `NAMES`: every name of every model, as the place of the model and the number of the name,
// by name. `SLOTS`: where in `NAMES` a name first stands, by its hash; a slot that is taken sends on to the next. The others
// are the values that many rows have.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The rows.
pub(super) static MODELS: Packed<Facts> =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/models.bin")), &STARTS, facts);

/// Every model that is called this, one a provider at most. One hash, whatever the number of models.
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
