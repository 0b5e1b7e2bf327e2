//! Changing the settings, by a command or in an editor.

use std::process::Command;

use ikigai_core::near;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::read::{self, KEYS, TABLES};
use crate::exit::Failure;
use crate::files::Mode;
use crate::places::{self, Places};

/// The content of a new file.
const TEMPLATE: &str = "\
# Settings of ikigai. Remove the # from a line to make it take effect.

# model = \"claude-sonnet-4-5/med\"   # the model to begin with: [PROVIDER:]MODEL[/LEVEL]
# system = \"Be brief.\"              # the system prompt
# thinking_display = \"hide\"         # or \"show\"
# keys = \"emacs\"                    # or \"vi\"
# tools = true                      # whether the model may use tools
# save = true                       # whether conversations are kept
# database = \"~/chats.db\"           # or \"postgres://…\"
# bell = true                       # ring after an answer that took long

# [aliases]                         # your own names of models
# fast = \"gemini-2.5-flash/none\"

# [roles.reviewer]                  # /role reviewer, --role reviewer
# prompt = \"You review code. Be strict.\"
# model = \"opus\"
# thinking = \"high\"
# tools = false

# [templates.translate]             # /template translate language=French …
# text = \"Translate into {{language}}:\\n\\n{{input}}\"

# [models.\"claude-*\"]              # what requests to some models say
# temperature = 0.2
# max_output_tokens = 8000

# [mcp.files]
# command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]
# env = { NAME = \"value\" }

# [mcp.search]
# url = \"https://example.com/mcp\"
# headers = { authorization = \"Bearer …\" }
";

/// Splits a key into its parts; an unknown one is a usage error. The pattern of a model may contain dots.
pub(super) fn key(text: &str) -> Result<Vec<&str>, Failure> {
    let parts: Vec<&str> = match text.strip_prefix("models.").map(|rest| (rest, rest.rsplit_once('.'))) {
        Some((_, Some((pattern, field)))) if models_field(field) => vec!["models", pattern, field],
        Some((pattern, _)) => vec!["models", pattern],
        None => text.split('.').collect(),
    };
    let unknown = |word: &str, known: &[&'static str]| {
        let failure = Failure::usage(format!("`{word}` is not a setting"));
        match near::close(word, known.iter().copied()) {
            Some(close) => failure.hint(format!("Did you mean `{close}`?")),
            None => failure.hint(format!("The settings are {}.", known.join(", "))),
        }
    };
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err(Failure::usage(format!("`{text}` is not a setting")));
    }
    let fields = parts.first().and_then(|first| TABLES.iter().find(|(key, _)| key == first)).map(|(_, fields)| *fields);
    match (parts.as_slice(), fields) {
        ([_] | [_, _], Some(_)) | (["aliases", _], None) => Ok(parts),
        ([_, _, field, rest @ ..], Some(fields)) => match (fields.contains(field), *field, rest) {
            (false, ..) => Err(unknown(field, fields)),
            (true, "env" | "headers", [] | [_]) | (true, _, []) => Ok(parts),
            (true, ..) => Err(Failure::usage(format!("`{text}` is not a setting"))),
        },
        ([word], None) if KEYS.contains(word) => Ok(parts),
        ([word, ..], None) if !KEYS.contains(word) => Err(unknown(word, &KEYS)),
        _ => Err(Failure::usage(format!("`{text}` is not a setting"))),
    }
}

fn models_field(word: &str) -> bool {
    TABLES.iter().any(|(key, fields)| *key == "models" && fields.contains(&word))
}

/// Changes one setting.
pub(crate) fn set(places: &Places, text: &str, value: &str) -> Result<(), Failure> {
    let parts = key(text)?;
    let value = read_value(&parts, value)?;
    let mut document = document(places)?;
    put(document.as_table_mut(), &parts, value)
        .ok_or_else(|| Failure::new(format!("{text}: the file has something else in its place")))?;
    save(places, &document)
}

/// Removes one setting.
pub(super) fn unset(places: &Places, text: &str) -> Result<(), Failure> {
    let parts = key(text)?;
    let mut document = document(places)?;
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    let (last, above) = parts.split_last().map_or(("", [].as_slice()), |(last, above)| (*last, above));
    for part in above {
        table = table.and_then(|table| table.get_mut(part)).and_then(Item::as_table_like_mut);
    }
    if table.and_then(|table| table.remove(last)).is_none() {
        return Err(Failure::new(format!("{text} is not set")));
    }
    save(places, &document)
}

/// Parses the text given as a setting's value.
fn read_value(parts: &[&str], text: &str) -> Result<Value, Failure> {
    let key = parts.join(".");
    match parts {
        ["tools" | "save" | "bell"] | ["roles", _, "tools"] => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(Value::from(true)),
            "false" | "no" | "off" => Ok(Value::from(false)),
            _ => Err(Failure::usage(format!("{key} is true or false, not `{text}`"))),
        },
        ["mcp", _, "command"] if text.trim_start().starts_with('[') => text.trim().parse().map_err(|_| {
            Failure::usage(format!("`{text}` is not a list of words"))
                .hint("Such as: '[\"npx\", \"server-files\", \".\"]'")
        }),
        ["mcp", _, "command"] => Ok(Value::from(text.split_whitespace().collect::<Array>())),
        ["models", _, "stop"] => Ok(Value::from([text].into_iter().collect::<Array>())),
        ["models", _, "temperature" | "top_p"] => match text.trim().parse::<f64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Err(Failure::usage(format!("{key} must be a number, not `{text}`"))),
        },
        ["models", _, "seed" | "max_output_tokens" | "thinking_budget"] => match text.trim().parse::<i64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => Err(Failure::usage(format!("{key} must be a whole number, not `{text}`"))),
        },
        ["mcp" | "roles" | "templates" | "models"]
        | ["mcp" | "roles" | "templates" | "models", _]
        | ["mcp", _, "env" | "headers"] => {
            Err(Failure::usage(format!("{key} is a table")).hint(format!("Set what is in it, such as {key}.…")))
        }
        ["model"] => {
            let (registry, _) = places::registry_and_problems(Places::find().as_ref());
            match registry.parse(text) {
                Ok(_) => Ok(Value::from(text.trim())),
                Err(error) => Err(Failure::new(error.to_string()).hint("`ikigai models list` lists the models.")),
            }
        }
        _ => Ok(Value::from(text)),
    }
}

/// Stores a value, creating the tables above it; `None` if there is something else in the way. Comments stay.
fn put(table: &mut dyn TableLike, parts: &[&str], value: Value) -> Option<()> {
    match parts {
        [] => None,
        [name] => {
            replace(table, name, value);
            Some(())
        }
        [name, rest @ ..] => {
            if !table.contains_key(name) {
                let mut fresh = Table::new();
                // `[mcp.files]` needs no preceding `[mcp]`.
                fresh.set_implicit(TABLES.iter().any(|(key, _)| key == name));
                let is_inline = matches!(*name, "env" | "headers");
                let fresh = if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(fresh) };
                table.insert(name, fresh);
            }
            put(table.get_mut(name)?.as_table_like_mut()?, rest, value)
        }
    }
}

/// Stores a value; the comments above and next to the old one stay.
pub(crate) fn replace(table: &mut dyn TableLike, name: &str, mut value: Value) {
    match table.get_mut(name) {
        Some(item) => {
            if let Some(before) = item.as_value() {
                *value.decor_mut() = before.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => {
            table.insert(name, Item::Value(value));
        }
    }
}

fn document(places: &Places) -> Result<DocumentMut, Failure> {
    let file = places.settings();
    let text = places::read(&file).map_err(Failure::new)?.unwrap_or_default();
    // Read the usual way first, so that errors have the same wording as elsewhere.
    read::read(&file.display().to_string(), &text)?;
    text.parse().map_err(|error: toml_edit::TomlError| Failure::new(format!("{}: {}", file.display(), error.message())))
}

/// Writes the file if it is still valid.
fn save(places: &Places, document: &DocumentMut) -> Result<(), Failure> {
    let (file, text) = (places.settings(), document.to_string());
    read::read(&file.display().to_string(), &text).map_err(|failure| failure.hint("The file stays as it was."))?;
    places::write(&file, &text, Mode::Private)
}

/// Opens the file in an editor and waits.
pub(super) fn edit(places: &Places) -> Result<(), Failure> {
    let file = places.settings();
    if !file.exists() {
        places::write(&file, TEMPLATE, Mode::Private)?;
    }
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| if cfg!(windows) { "notepad".to_owned() } else { "vi".to_owned() });
    let mut command = if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("notepad"));
        command.args(words);
        command
    } else {
        // The variable may contain arguments and quotes, as in a shell.
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{editor} \"$@\""), "sh"]);
        command
    };
    let status =
        command.arg(&file).status().map_err(|error| Failure::new(format!("cannot start {editor}: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("{editor} ended with {status}")).hint("Set EDITOR to the editor you want."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_template_is_a_file_of_settings_and_so_is_it_without_its_marks() {
        let (settings, warnings) = read::read("config.toml", TEMPLATE).unwrap();
        assert_eq!((settings, warnings), (crate::settings::Settings::default(), Vec::new()));
        let bare: String =
            TEMPLATE.lines().skip(2).map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
        let (settings, warnings) = read::read("config.toml", &bare).unwrap();
        assert_eq!((settings.mcp.len(), settings.model.is_some(), warnings), (2, true, Vec::new()));
        assert_eq!((settings.roles.len(), settings.templates.len(), settings.models.len()), (1, 1, 1));
    }

    fn changed(text: &str, key: &str, value: &str) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        let parts = super::key(key).unwrap();
        put(document.as_table_mut(), &parts, read_value(&parts, value).unwrap()).unwrap();
        document.to_string()
    }

    #[test]
    fn one_setting_is_changed_and_everything_else_stays() {
        let text = "# mine\ntools = true # for now\n\n[mcp.a]\n# old\ncommand = [\"x\"]\n";
        assert_eq!(changed(text, "tools", "off"), text.replace("true", "false"));
        assert_eq!(changed(text, "system", "say \"hi\""), text.replace("now\n", "now\nsystem = 'say \"hi\"'\n"));
        assert_eq!(changed(text, "mcp.a.command", "y z"), text.replace("[\"x\"]", "[\"y\", \"z\"]"));
        assert_eq!(changed(text, "mcp.a.env.B", "1"), format!("{text}env = {{ B = \"1\" }}\n"));
        assert_eq!(changed("", "mcp.b.url", "https://b"), "[mcp.b]\nurl = \"https://b\"\n");
        assert_eq!(changed("", "models.gpt-5.4*.seed", "7"), "[models.\"gpt-5.4*\"]\nseed = 7\n");
        assert_eq!(changed("", "roles.a.prompt", "Be b."), "[roles.a]\nprompt = \"Be b.\"\n");
    }

    #[test]
    fn keys_that_do_not_exist_are_told_with_the_nearest() {
        let told = |text: &'static str| key(text).map_err(|failure| failure.hint.unwrap_or_default());
        assert_eq!(told("modle"), Err("Did you mean `model`?".to_owned()));
        assert_eq!(told("mcp.a.comand"), Err("Did you mean `command`?".to_owned()));
        assert_eq!(told("roles.a.promt"), Err("Did you mean `prompt`?".to_owned()));
        assert_eq!(told("models.a.b.top_p"), Ok(vec!["models", "a.b", "top_p"]));
        assert_eq!(told("mcp.a.env.X"), Ok(vec!["mcp", "a", "env", "X"]));
        for text in ["", "model.x", "mcp.", "mcp.a.url.x", "mcp.a.env.x.y", "."] {
            assert!(key(text).is_err(), "{text}");
        }
    }
}
