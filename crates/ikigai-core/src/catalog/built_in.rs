//! The models of `data/models/*.toml`, as the build script made them.

use std::borrow::Cow;

use super::facts::{Facts, Modality, Prices, Status, TierPrices};
use super::hash::hash;
use crate::{Dialect, Level};

// `MODELS`: the rows. `NAMES`: every name of every model, as the place of the model and the number of the name, by name.
// `SLOTS`: where in `NAMES` a name first stands, by its hash; a slot that is taken sends on to the next.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// Every model that is called this, one a provider at most. One hash, whatever the number of models.
pub(super) fn named<'a>(name: &str) -> impl Iterator<Item = &'a Facts> {
    first(name)
        .into_iter()
        .flat_map(move |place| {
            let names = NAMES.get(place..).unwrap_or_default().iter();
            names.map_while(move |entry| model(*entry).filter(|(known, _)| known.eq_ignore_ascii_case(name)))
        })
        .map(|(_, facts)| facts)
}

fn first(name: &str) -> Option<usize> {
    let start = hash(name) as usize;
    for step in 0..SLOTS.len() {
        let place = usize::from(*SLOTS.get(start.wrapping_add(step) % SLOTS.len())?);
        let (known, _) = model(*NAMES.get(place)?)?;
        if known.eq_ignore_ascii_case(name) {
            return Some(place);
        }
    }
    None
}

/// A name, and the model that it belongs to.
fn model((place, which): (u16, u8)) -> Option<(&'static str, &'static Facts)> {
    let facts = MODELS.get(usize::from(place))?;
    facts.names().nth(usize::from(which)).map(|name| (name, facts))
}
