//! The differences between two requests, for people.

use serde_json::Value;

use super::Canonical;

/// How many differences are reported.
const TOLD: usize = 3;
/// How much of a value is shown.
const SHOWN: usize = 60;

/// How much two requests differ, and in what: the recorded one comes first.
pub(crate) fn difference(recorded: &Canonical, asked: &Canonical) -> (usize, String) {
    let mut found = Found::default();
    found.text("method", &recorded.method, &asked.method, 1_000_000);
    found.text("path", &recorded.path, &asked.path, 100_000);
    found.text("query", &recorded.query.join("&"), &asked.query.join("&"), 1);
    found.compare(&mut "body".to_owned(), &recorded.body, &asked.body);
    let more = found.count - found.told.len();
    let mut told = found.told.join("; ");
    if more > 0 {
        told.push_str(&format!("; and {more} more"));
    }
    (found.weight, told)
}

#[derive(Default)]
struct Found {
    weight: usize,
    count: usize,
    told: Vec<String>,
}

impl Found {
    fn text(&mut self, what: &str, recorded: &str, asked: &str, weight: usize) {
        if recorded != asked {
            self.add(what, Some(&Value::from(recorded)), Some(&Value::from(asked)), weight);
        }
    }

    fn add(&mut self, place: &str, recorded: Option<&Value>, asked: Option<&Value>, weight: usize) {
        self.count += 1;
        self.weight += weight;
        if self.told.len() < TOLD {
            let (recorded, asked) = apart(recorded, asked);
            self.told.push(format!("{place} is {asked}, recorded was {recorded}"));
        }
    }

    fn compare(&mut self, place: &mut String, recorded: &Value, asked: &Value) {
        let length = place.len();
        match (recorded, asked) {
            (Value::Object(recorded), Value::Object(asked)) => {
                for (name, value) in recorded {
                    place.push_str(&format!(".{name}"));
                    match asked.get(name) {
                        Some(other) => self.compare(place, value, other),
                        None => self.add(place, Some(value), None, 1),
                    }
                    place.truncate(length);
                }
                for (name, value) in asked.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
                    self.add(&format!("{place}.{name}"), None, Some(value), 1);
                }
            }
            (Value::Array(recorded), Value::Array(asked)) => {
                for number in 0..recorded.len().max(asked.len()) {
                    place.push_str(&format!("[{number}]"));
                    match (recorded.get(number), asked.get(number)) {
                        (Some(recorded), Some(asked)) => self.compare(place, recorded, asked),
                        (recorded, asked) => self.add(place, recorded, asked, 1),
                    }
                    place.truncate(length);
                }
            }
            (recorded, asked) if recorded == asked => {}
            (recorded, asked) => self.add(place, Some(recorded), Some(asked), 1),
        }
    }
}

/// Two values, shortened, from where they differ.
fn apart(recorded: Option<&Value>, asked: Option<&Value>) -> (String, String) {
    let text = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
    let (recorded, asked) = (text(recorded), text(asked));
    let same = recorded.chars().zip(asked.chars()).take_while(|(a, b)| a == b).count();
    // A little of what is the same shows the place.
    let skipped = if same > SHOWN / 2 { same - 10 } else { 0 };
    let short = |text: &str| {
        let mut shown: String = text.chars().skip(skipped).take(SHOWN).collect();
        if skipped > 0 {
            shown.insert(0, '…');
        }
        if text.chars().nth(skipped + SHOWN).is_some() {
            shown.push('…');
        }
        shown
    };
    (short(&recorded), short(&asked))
}
