//! Tables as bytes, which `src/catalog/packed.rs` reads.
//!
//! A table of structs would take a pointer for every text and list, which the loader sets anew each time that the program
//! starts, and several times the room.

use std::collections::BTreeMap;

use super::Result;

/// Rows as bytes.
#[derive(Default)]
pub(crate) struct Row(pub(crate) Vec<u8>);

impl Row {
    /// Seven bits a byte, the lowest first; all bytes but the last have the eighth.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Zero if there is none, otherwise one more than it is.
    pub(crate) fn optional(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number + 1));
    }

    /// Its length, then the text.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.number(u64::try_from(text.len())?);
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// How many there are, then the texts.
    pub(crate) fn texts(&mut self, texts: &[String]) -> Result<()> {
        self.number(u64::try_from(texts.len())?);
        texts.iter().try_for_each(|text| self.text(text))
    }
}

/// Values that many rows have: each is in a static once, and a row has its place there.
#[derive(Default)]
pub(crate) struct Pools(BTreeMap<&'static str, (String, Vec<String>)>);

impl Pools {
    pub(crate) fn place(&mut self, pool: &'static str, kind: &str, value: String) -> Result<u64> {
        let (_, values) = self.0.entry(pool).or_insert_with(|| (kind.to_owned(), Vec::new()));
        let place = values.iter().position(|known| *known == value).unwrap_or(values.len());
        if place == values.len() {
            values.push(value);
        }
        Ok(u64::try_from(place)?)
    }

    pub(crate) fn code(&self) -> String {
        let mut code = String::new();
        for (name, (kind, values)) in &self.0 {
            code.push_str(&format!("static {name}: [{kind}; {}] = [\n", values.len()));
            for value in values {
                code.push_str(&format!("    {value},\n"));
            }
            code.push_str("];\n");
        }
        code
    }
}
