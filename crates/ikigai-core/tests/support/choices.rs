//! A list of numbers as a list of choices, from which generated values are built and shrunk.
//!
//! Every generator takes its decisions from here. When the numbers run out, every choice is the first one, and the
//! first one is always the simplest; so a shorter list with smaller numbers is a simpler value, which is all that
//! proptest needs to shrink a failure.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// The remaining choices.
#[derive(Debug)]
pub(crate) struct Choices<'a> {
    rest: std::slice::Iter<'a, u32>,
}

/// Returns values that `make` builds from at most `length` choices.
pub(crate) fn made<T: std::fmt::Debug>(
    length: usize,
    make: impl Fn(&mut Choices<'_>) -> T,
) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u32>(), 0..length).prop_map(move |numbers| make(&mut Choices { rest: numbers.iter() }))
}

impl Choices<'_> {
    /// Returns one of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let number = u64::from(self.rest.next().copied().unwrap_or(0));
        ((number * count as u64) >> 32) as usize
    }

    /// Returns `true` one time in `rare`.
    pub(crate) fn seldom(&mut self, rare: usize) -> bool {
        self.below(rare) == rare - 1
    }

    /// Returns one of the given things.
    pub(crate) fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }

    /// Returns something one time in `rare`.
    pub(crate) fn maybe<T>(&mut self, rare: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.seldom(rare).then(|| make(self))
    }

    /// Returns between `least` and `most` things.
    pub(crate) fn list<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }

    fn bits(&mut self) -> u64 {
        (u64::from(self.rest.next().copied().unwrap_or(0)) << 32) | u64::from(self.rest.next().copied().unwrap_or(0))
    }

    /// Returns any kind of text: plain, empty, long, in any script, full of what breaks line protocols and JSON.
    pub(crate) fn text(&mut self) -> String {
        const TEXTS: [&str; 14] = [
            "Hello",
            "Two words, and more.",
            "",
            " ",
            "line\nline\r\nline\rline",
            "\u{feff}data: {\"type\":\"error\"}\n\nevent: done\n\n",
            "quote \" backslash \\ slash / tab \t bell \u{7} nul \u{0}",
            "Grüße, 世界, Привет, שלום",
            "👩‍👩‍👧‍👦 🏳️‍🌈 e\u{301} \u{2028}\u{2029}\u{85}",
            "<think>not a thought</think>",
            "{\"a\": [1, 2.0, null]}",
            "[DONE]",
            "ikg1.bm90IG91cnM",
            "\\ud83d \u{fffd} \u{10ffff}",
        ];
        match self.below(8) {
            0..=5 => (*self.pick(&TEXTS)).to_owned(),
            6 => {
                let seed = self.bits();
                (0..self.below(40)).map(|at| any_char(seed, at)).collect()
            }
            _ => {
                let piece = *self.pick(&TEXTS);
                piece.repeat(self.below(4_000) / (piece.len() + 1))
            }
        }
    }

    /// Returns a text that is not blank.
    pub(crate) fn words(&mut self) -> String {
        let text = self.text();
        if text.trim().is_empty() { "words".to_owned() } else { text }
    }

    /// Returns a name that every provider accepts for a tool.
    pub(crate) fn name(&mut self) -> String {
        (*self.pick(&["read_file", "get-weather", "f", "search2", "a_name_of_some_length_but_no_more_than_is_allowed"]))
            .to_owned()
    }

    /// Returns any finite number.
    pub(crate) fn float(&mut self) -> f64 {
        const FLOATS: [f64; 9] = [1.0, 0.0, 0.7, -0.0, 0.1, 1e-7, 5e-324, f64::MAX, -1e300];
        match self.below(4) {
            0..=2 => *self.pick(&FLOATS),
            _ => Some(f64::from_bits(self.bits())).filter(|number| number.is_finite()).unwrap_or(0.3),
        }
    }

    /// Returns a number between 0 and `most`, as for sampling parameters.
    pub(crate) fn share(&mut self, most: f64) -> f64 {
        let tenths = self.below(101);
        most * (tenths as f64) / 100.0
    }

    /// Returns any whole number, including the ends of the range.
    pub(crate) fn whole(&mut self) -> i64 {
        match self.below(4) {
            0 => *self.pick(&[1, 0, 42, -1, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1]),
            1 => self.below(1_000) as i64,
            _ => self.bits() as i64,
        }
    }

    /// Returns a token count.
    pub(crate) fn count(&mut self) -> u64 {
        match self.below(3) {
            0 => 0,
            1 => self.below(2_000) as u64,
            _ => self.below(usize::pow(10, 9)) as u64,
        }
    }

    /// Returns any JSON value, at most `depth` levels deep, rarely a much deeper one.
    pub(crate) fn json(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::String(self.text()),
            1 => Value::Null,
            2 => Value::Bool(self.seldom(2)),
            3 => Value::from(self.whole()),
            4 => Value::from(self.float()),
            5 => Value::from(u64::MAX - self.below(3) as u64),
            6 => Value::Array(self.list(0, 3, |choices| choices.json(depth - 1))),
            7 => Value::Object(self.object(depth - 1)),
            _ if self.seldom(20) => {
                let kernel = self.json(0);
                (0..self.below(60)).fold(kernel, |inner, at| match at % 2 {
                    0 => Value::Array(vec![inner]),
                    _ => Value::Object(Map::from_iter([("in".to_owned(), inner)])),
                })
            }
            _ => Value::Object(self.object(depth - 1)),
        }
    }

    /// Returns any JSON object; its keys are in no particular order.
    pub(crate) fn object(&mut self, depth: usize) -> Map<String, Value> {
        const KEYS: [&str; 8] = ["b", "a", "type", "z\"\n", "", "path", "日本", "id"];
        self.list(0, 4, |choices| ((*choices.pick(&KEYS)).to_owned(), choices.json(depth))).into_iter().collect()
    }

    /// Returns a JSON Schema of an object, as for a tool.
    pub(crate) fn schema(&mut self, depth: usize) -> Value {
        const KEYS: [&str; 4] = ["path", "city", "b", "a"];
        let mut properties = Map::new();
        for _ in 0..self.below(3) {
            let key = (*self.pick(&KEYS)).to_owned();
            let schema = match self.below(if depth == 0 { 4 } else { 6 }) {
                0 => serde_json::json!({"type": "string"}),
                1 => {
                    serde_json::json!({"type": "string", "enum": ["celsius", "fahrenheit"], "description": self.text()})
                }
                2 => serde_json::json!({"type": "integer", "minimum": -5, "maximum": 1e3}),
                3 => serde_json::json!({"type": ["number", "null"]}),
                4 => serde_json::json!({"type": "array", "items": self.schema(depth - 1)}),
                _ => self.schema(depth - 1),
            };
            properties.insert(key, schema);
        }
        let required: Vec<Value> = match self.below(3) {
            0 => properties.keys().map(|key| Value::from(key.as_str())).collect(),
            1 => properties.keys().take(1).map(|key| Value::from(key.as_str())).collect(),
            _ => Vec::new(),
        };
        let mut schema = Map::from_iter([
            ("type".to_owned(), Value::from("object")),
            ("properties".to_owned(), Value::Object(properties)),
        ]);
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        if self.seldom(2) {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        Value::Object(schema)
    }
}

/// Returns the character at a place of an endless text that follows from a seed.
fn any_char(seed: u64, at: usize) -> char {
    let mixed = (seed ^ (at as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D);
    let within = [0x80, 0x800, 0x1_0000, 0x11_0000][(mixed >> 60) as usize % 4];
    char::from_u32((mixed % within) as u32).unwrap_or('\u{fffd}')
}
