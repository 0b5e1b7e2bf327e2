//! Compiles `data/families.toml` to `families.rs`: the rules of each family, and the model ids to which they apply.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Result;
use super::code::{flag, list, number, str_of, table, text, word};

/// How a field is written as code.
enum Field {
    Flag,
    /// A variant of this enum.
    Word(&'static str),
    /// An optional variant of this enum.
    OptionalWord(&'static str),
    Text,
    Number,
    OptionalNumber,
    Levels,
    OptionalLevels,
    /// Pairs of levels.
    Means,
}

const RULES: [(&str, Field); 25] = [
    ("family", Field::Text),
    ("sampling", Field::Word("Sampling")),
    ("penalties", Field::Flag),
    ("stop", Field::Flag),
    ("forced_tools", Field::Word("ForcedTools")),
    ("parallel_tool_calls", Field::Flag),
    ("prefill", Field::Flag),
    ("system_prompt", Field::Flag),
    ("system_messages", Field::Flag),
    ("strict_tools", Field::Flag),
    ("structured_output", Field::Flag),
    ("tools_with_structured_output", Field::Flag),
    ("mixed_tools", Field::Flag),
    ("search_in_chat", Field::Flag),
    ("tools_in_chat", Field::Word("ToolsInChat")),
    ("responses_api", Field::Flag),
    ("bound_state", Field::Word("StateScope")),
    ("cache_breakpoints", Field::Flag),
    ("media_in_results", Field::Flag),
    ("call_ids", Field::Flag),
    ("signatures_required", Field::Flag),
    ("json_schema_parameters", Field::Flag),
    ("converse", Field::Word("ConverseFields")),
    ("drawing", Field::Word("Drawing")),
    ("max_output", Field::OptionalNumber),
];

const THINKING: [(&str, Field); 15] = [
    ("kind", Field::Word("ThinkingKind")),
    ("min", Field::Number),
    ("max", Field::Number),
    ("max_is_hard", Field::Flag),
    ("dynamic", Field::Flag),
    ("levels", Field::Levels),
    ("chat_levels", Field::OptionalLevels),
    ("means", Field::Means),
    ("default", Field::OptionalWord("Level")),
    ("off", Field::Word("ThinkingOff")),
    ("none_as", Field::OptionalWord("Level")),
    ("takes_budget", Field::Flag),
    ("table_of_budgets", Field::Flag),
    ("display", Field::Word("ThinkingDisplay")),
    ("shown", Field::Word("ThinkingDetail")),
];

/// A row of the file, including the fields inherited through `like`.
pub(crate) struct Row {
    /// The prefixes of model ids, as written.
    pub(crate) patterns: Vec<String>,
    /// The fields of `Rules`.
    pub(crate) rules: Table,
    line: usize,
}

/// Returns the code for a file. `file` is its name, for errors.
pub(crate) fn family_table(file: &str, text: &str) -> Result<String> {
    let (mut rules, mut patterns) = (String::new(), BTreeMap::new());
    let rows = rows(file, text)?;
    for (place, row) in rows.iter().enumerate() {
        let at = |error| format!("{file}:{}: [[family]] {}: {error}", row.line, row.patterns.join(", "));
        writeln!(rules, "    {},", row_code(&row.rules).map_err(at)?)?;
        for written in &row.patterns {
            let pattern = Pattern::new(written);
            if patterns.insert(pattern.weight(), (pattern, place)).is_some() {
                return Err(at(format!("`{written}` is in another row already").into()).into());
            }
        }
    }
    let mut code = format!("static ROWS: [Rules; {}] = [\n{rules}];\n", rows.len());
    writeln!(code, "static PATTERNS: [Pattern; {}] = [", patterns.len())?;
    for (pattern, place) in patterns.values().rev() {
        let Pattern { start, later, at_least } = pattern;
        writeln!(code, "    Pattern {{ start: {start:?}, later: {later:?}, at_least: {at_least:?}, row: {place} }},")?;
    }
    Ok(code + "];\n")
}

/// Returns the rows of a file, in order.
pub(crate) fn rows(file: &str, text: &str) -> Result<Vec<Row>> {
    let mut document: Table = text.parse().map_err(|error| format!("{file}: {error}"))?;
    let bases = document.remove("like").map_or(Ok(Table::new()), |value| table(value, "like"))?;
    let families = match document.remove("family") {
        Some(Value::Array(rows)) => rows,
        _ => return Err(format!("{file}: there are no [[family]] rows").into()),
    };
    if let Some(unknown) = document.keys().next() {
        return Err(format!("{file}: unknown table `{unknown}`").into());
    }
    let mut lines = text.lines().enumerate().filter(|(_, line)| line.trim() == "[[family]]").map(|(line, _)| line + 1);
    let row = |row| {
        let line = lines.next().unwrap_or_default();
        let at = |error| format!("{file}:{line}: [[family]]: {error}");
        let mut row = table(row, "family").map_err(at)?;
        let patterns = list(row.remove("match").as_ref()).map_err(at)?;
        if patterns.is_empty() {
            return Err(at("`match` is missing".into()).into());
        }
        let at = |error| format!("{file}:{line}: [[family]] {}: {error}", patterns.join(", "));
        let rules = inherit(row, &bases, 0).map_err(at)?;
        Ok(Row { patterns, rules, line })
    };
    families.into_iter().map(row).collect()
}

/// Overlays the fields of a table on those of the table that it is `like`.
fn inherit(mut own: Table, bases: &Table, depth: usize) -> Result<Table> {
    let Some(name) = own.remove("like") else { return Ok(own) };
    let name = str_of(Some(&name))?;
    if depth > bases.len() {
        return Err(format!("`like.{name}` is like itself").into());
    }
    let base = bases.get(name).ok_or_else(|| format!("there is no table `like.{name}`"))?;
    let mut base = inherit(table(base.clone(), name)?, bases, depth + 1)?;
    lay_over(&mut base, own);
    Ok(base)
}

fn lay_over(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            // `means` is a table too, but is replaced as a whole, like any other value.
            (Some(Value::Table(below)), Value::Table(above)) if key == "thinking" => lay_over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Returns the rules of one row: the default, with the row's fields.
fn row_code(rules: &Table) -> Result<String> {
    let mut code = String::from("{ let mut rules = Rules::NONE;");
    for (key, value) in rules {
        if key == "thinking" {
            for (key, value) in table(value.clone(), key)? {
                let assigned = assign(&THINKING, &key, &value, "rules.thinking");
                code.push_str(&assigned.map_err(|error| format!("thinking.{error}"))?);
            }
        } else {
            code.push_str(&assign(&RULES, key, value, "rules")?);
        }
    }
    Ok(code + " rules }")
}

/// Returns the statement that sets one field.
fn assign(fields: &[(&str, Field)], key: &str, value: &Value, to: &str) -> Result<String> {
    let Some((_, field)) = fields.iter().find(|(name, _)| *name == key) else {
        return Err(format!("{key}: unknown field").into());
    };
    let code = match field {
        Field::Flag => flag(Some(value)).map(|value| value.to_string()),
        Field::Word(kind) => word(kind, value),
        Field::OptionalWord(kind) => word(kind, value).map(|word| format!("Some({word})")),
        Field::Text => str_of(Some(value)).map(text),
        Field::Number => value.as_integer().map(|value| value.to_string()).ok_or_else(|| not_a_number(value)),
        Field::OptionalNumber => number(value).map(|value| format!("Some({value})")),
        Field::Levels => levels(value),
        Field::OptionalLevels => levels(value),
        Field::Means => means(value),
    };
    let code = code.map_err(|error| format!("{key}: {error}"))?;
    Ok(match field {
        // The old value is forgotten, because a constant cannot run destructors.
        Field::OptionalLevels => format!(" std::mem::forget({to}.{key}.replace({code}));"),
        Field::Text | Field::Levels | Field::Means => {
            format!(" std::mem::forget(std::mem::replace(&mut {to}.{key}, {code}));")
        }
        Field::Flag | Field::Word(_) | Field::OptionalWord(_) | Field::Number | Field::OptionalNumber => {
            format!(" {to}.{key} = {code};")
        }
    })
}

fn not_a_number(value: &Value) -> Box<dyn std::error::Error> {
    format!("`{value}` is not a whole number").into()
}

fn levels(value: &Value) -> Result<String> {
    let Value::Array(items) = value else { return Err(format!("`{value}` is not a list of levels").into()) };
    let levels: Vec<String> = items.iter().map(|item| word("Level", item)).collect::<Result<_>>()?;
    Ok(format!("Cow::Borrowed(&[{}])", levels.join(", ")))
}

fn means(value: &Value) -> Result<String> {
    let pair = |(from, to): (String, Value)| {
        Ok(format!("({}, {})", word("Level", &Value::String(from))?, word("Level", &to)?))
    };
    let pairs: Vec<String> = table(value.clone(), "means")?.into_iter().map(pair).collect::<Result<_>>()?;
    Ok(format!("Cow::Borrowed(&[{}])", pairs.join(", ")))
}

/// A prefix of model ids.
struct Pattern {
    start: String,
    /// The part that must follow later, after a `*`.
    later: Option<String>,
    /// The minimum version, if the pattern ends in a `+`.
    at_least: Option<u32>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (text, at_least) = match text.strip_suffix('+') {
            None => (text, None),
            Some(open) => {
                let start = open.trim_end_matches(|c: char| c.is_ascii_digit());
                (start, open.strip_prefix(start).and_then(|digits| digits.parse().ok()))
            }
        };
        match text.split_once('*') {
            None => Pattern { start: text.to_owned(), later: None, at_least },
            Some((start, later)) => Pattern { start: start.to_owned(), later: Some(later.to_owned()), at_least },
        }
    }

    /// The order in which patterns are tried, last one first: those with a later part, then the most specific, then
    /// those for newer versions. The strings only make the order total.
    fn weight(&self) -> (bool, usize, Option<u32>, String, Option<String>) {
        let length = self.start.len() + self.later.as_ref().map_or(0, String::len);
        (self.later.is_some(), length, self.at_least, self.start.clone(), self.later.clone())
    }
}
