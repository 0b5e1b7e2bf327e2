//! The providers of `data/providers.toml`, as compiled by the build script.

use std::borrow::Cow;

use super::{Auth, Provider, Quirks};
use crate::Dialect;
use crate::catalog::packed::{Packed, Row};

// `STARTS`: the start of each row. `NAMES`: every id and alias with the position of its row, sorted. The others are the
// values that many rows share.
include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// The rows, by id.
pub(super) static PROVIDERS: Packed<Provider> =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/providers.bin")), &STARTS, provider);

pub(super) fn named(name: &str) -> Option<&'static Provider> {
    let lower = || name.bytes().map(|byte| byte.to_ascii_lowercase());
    let place = NAMES.binary_search_by(|(known, _)| known.bytes().cmp(lower())).ok()?;
    PROVIDERS.get(usize::from(NAMES.get(place)?.1))
}

/// Returns every id and alias.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    NAMES.iter().map(|(known, _)| *known)
}

/// Reads a row. `build/providers.rs` writes the same fields in the same order.
fn provider(mut row: Row) -> Option<Provider> {
    Some(Provider {
        id: row.text()?,
        name: row.text()?,
        base_url: row.text()?,
        docs: row.text()?,
        key_page: row.text()?,
        idempotency_header: row.text()?,
        unsupported: row.text()?,
        aliases: list(&mut row)?,
        key_env: list(&mut row)?,
        base_url_env: list(&mut row)?,
        prefixes: list(&mut row)?,
        key_optional: row.number()? != 0,
        maker_dialect: row.number()? != 0,
        dialect: row.one_of(&DIALECTS)?,
        auth: row.one_of(&AUTHS)?,
        also: pairs(&mut row, |row| row.one_of(&DIALECTS))?,
        headers: pairs(&mut row, Row::text)?,
        quirks: QUIRKS.get(usize::try_from(row.number()?).ok()?)?.clone(),
    })
}

fn list(row: &mut Row) -> Option<Cow<'static, [Cow<'static, str>]>> {
    let count = row.number()?;
    row.texts(count)
}

/// Strings, each with a name.
type Pairs<N> = Cow<'static, [(N, Cow<'static, str>)]>;

fn pairs<N: Clone>(row: &mut Row, name: impl Fn(&mut Row) -> Option<N>) -> Option<Pairs<N>> {
    let count = row.number()?;
    (0..count).map(|_| Some((name(row)?, row.text()?))).collect::<Option<Vec<_>>>().map(Cow::Owned)
}
