use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::catalog::{Catalog, Prices};
use crate::provider::{Provider, Providers};

fn message(text: &str) -> String {
    from_toml::<BTreeMap<String, Provider>>("my.toml", text).unwrap_err().to_string()
}

#[test]
fn an_error_names_file_line_column_and_key() {
    let text =
        "# mine\n\n[mistral]\nname = \"Mistral\"\n  quirks.chat = { top_k = true, max_token = \"max_tokens\" }\n";
    let error = from_toml::<BTreeMap<String, Provider>>("my.toml", text).unwrap_err();
    assert_eq!(
        error,
        FileError {
            file: "my.toml".to_owned(),
            line: 5,
            column: 33,
            key: "mistral.quirks.chat.max_token".to_owned(),
            message: "unknown key `max_token`; did you mean `max_tokens`?".to_owned(),
        }
    );
    assert_eq!(
        error.to_string(),
        "my.toml:5:33: mistral.quirks.chat.max_token: unknown key `max_token`; did you mean `max_tokens`?"
    );
}

#[test]
fn every_kind_of_slip_is_told() {
    let names = crate::Dialect::PROVIDERS.map(crate::Dialect::as_str).join(", ");
    let unknown = format!("my.toml:2:11: a.dialect: unknown word `smoke signals`; use {names}");
    for (text, expected) in [
        (
            "[a]\ndialect = \"openai_chat\"",
            "my.toml:2:11: a.dialect: unknown word `openai_chat`; did you mean `openai-chat`?",
        ),
        ("[a]\ndialect = \"smoke signals\"", unknown.as_str()),
        (
            "[a]\nkey_env = 7",
            "my.toml:2:11: a.key_env: invalid type: integer `7`, expected a string or a list of strings",
        ),
        ("[a]\nkey_env = [\"A\", 7]", "my.toml:2:17: a.key_env[1]: invalid type: integer `7`, expected a string"),
        (
            "[a]\nkey_optional = \"yes\"",
            "my.toml:2:16: a.key_optional: invalid type: string \"yes\", expected a boolean",
        ),
        ("[ä]\nquirks = { ö = 1 }", "my.toml:1:2: invalid unquoted key, expected letters, numbers, `-`, `_`"),
        ("[a\nname = 1", "my.toml:1:3: unclosed table, expected `]`"),
        ("[a]\nname = \"x\"\nname = \"y\"", "my.toml:3:1: duplicate key"),
        ("name = \"x\"", "my.toml:1:8: name: invalid type: string \"x\", expected struct Provider"),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn a_column_counts_characters() {
    let text = "[a]\nalso = { anthropic = \"ööö\", gemin = \"\" }";
    assert_eq!(message(text), "my.toml:2:29: a.also.gemin: unknown word `gemin`; did you mean `gemini`?");
}

#[test]
fn prices_are_dollars_a_million_and_refuse_nonsense() {
    let prices = |text: &str| from_toml::<Prices>("my.toml", text).map_err(|error| error.to_string());
    assert_eq!(
        prices("input = 3\noutput = 0.049999999999999996\ncache_read = 0.0"),
        Ok(Prices { input: Some(3_000_000), output: Some(50_000), cache_read: Some(0), ..Prices::default() })
    );
    for (text, expected) in [
        ("input = -1.0", "my.toml:1:9: input: a price is between 0 and 1000000000 dollars a million tokens, not -1"),
        ("input = nan", "my.toml:1:9: input: a price is between 0 and 1000000000 dollars a million tokens, not NaN"),
        ("input = inf", "my.toml:1:9: input: a price is between 0 and 1000000000 dollars a million tokens, not inf"),
        ("inputs = 1.0", "my.toml:1:1: inputs: unknown key `inputs`; did you mean `input`?"),
    ] {
        assert_eq!(prices(text), Err(expected.to_owned()));
    }
}

#[test]
fn json_errors_have_their_place_too() {
    let read =
        |text: &str| Catalog::shared().with_api_json("api.json", text).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(read("{\n \"a\": {\"models\": {}}\n}"), Ok(()));
    assert_eq!(read("{\n \"a\": {\"models\": ]\n}"), Err("api.json:2:18: expected value".to_owned()));
    assert_eq!(read("{} x"), Err("api.json:1:4: trailing characters".to_owned()));
    assert_eq!(read(""), Err("api.json:1:1: EOF while parsing a value".to_owned()));
    assert_eq!(
        read("{\"a\": {\"models\": {\"m\": {\"cost\": {\"input\": \"3\"}}}}}"),
        Err("api.json:1:45: a.models.m.cost.input: invalid type: string \"3\", expected f64".to_owned())
    );
}

#[test]
fn a_broken_file_leaves_the_table_as_it_was() {
    let providers = Providers::shared();
    assert!(providers.with_toml("my.toml", "[mine]\nbase = 1").is_err());
    assert!(providers.find("mine").is_none());
    assert_eq!(providers.find("anthropic").map(|row| row.base_url.as_ref()), Some("https://api.anthropic.com"));
}

#[test]
fn the_deepest_nesting_is_an_error_and_no_crash() {
    let deep = "[".repeat(200_000);
    assert!(Providers::shared().with_toml("my.toml", &format!("a = {deep}")).is_err());
    assert!(Providers::shared().with_toml("my.toml", &deep).is_err());
    assert!(Providers::shared().with_toml("my.toml", &"a.".repeat(200_000)).is_err());
    assert!(Catalog::shared().with_api_json("api.json", &deep).is_err());
    let ignored = format!("{{\"a\": {{\"x\": {deep}");
    assert!(Catalog::shared().with_api_json("api.json", &ignored).is_err());
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(\\PC|\n){0,80}", toml in "(\\[|\\]|[a-c.=\"{}, \n0-9]){0,60}") {
        for text in [text, toml] {
            let error = Providers::shared().with_toml("my.toml", &text).err();
            let error = error.or(Catalog::shared().with_toml("my.toml", &text).err());
            if let Some(error) = error {
                prop_assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1);
                prop_assert!(error.column >= 1 && !error.message.is_empty());
            }
        }
    }
}
