//! Writes tables as bytes, which `src/catalog/packed.rs` reads.
//!
//! A table of structs would need a pointer for every string and list, which the loader relocates whenever the program
//! starts, and several times the space.

use std::collections::BTreeMap;

use super::Result;

/// Rows as bytes.
#[derive(Default)]
pub(crate) struct Row(pub(crate) Vec<u8>);

impl Row {
    /// Writes seven bits per byte, lowest first; all bytes but the last have the eighth bit set.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes zero for `None`, otherwise the number plus one.
    pub(crate) fn optional(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number + 1));
    }

    /// Writes the length, then the text.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.number(u64::try_from(text.len())?);
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Writes the number of texts, then the texts.
    pub(crate) fn texts(&mut self, texts: &[String]) -> Result<()> {
        self.number(u64::try_from(texts.len())?);
        texts.iter().try_for_each(|text| self.text(text))
    }
}

/// Values that many rows share: each is stored once in a static, and a row has its position there.
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
