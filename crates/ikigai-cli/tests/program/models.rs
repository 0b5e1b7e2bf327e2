//! `ikigai models`.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Said, ikigai, printed, said};

/// A provider and models that no release will change.
const PROVIDERS: &str = r#"
[home]
name = "At home"
base_url = "http://localhost:8000"
auth = "none"
"#;

const MODELS: &str = r#"
[home.small]
name = "Small One"
context = 32768
max_output = 4096
prices = { input = 0.075, output = 0.3 }
input = ["text"]
output = ["text"]
tools = false

[home.large]
name = "Large One"
aliases = ["large-2026-01-01"]
released = "2026-01-01"
knowledge = "2025-06"
context = 1048576
max_input = 1000000
max_output = 65536
prices = { input = 1.25, output = 10, cache_read = 0.125, cache_write = 1.5, thinking = 12 }
tiers = [{ above = 200000, prices = { input = 2.5, output = 15 } }]
input = ["text", "image", "pdf"]
output = ["text"]
thinking = true
efforts = ["none", "low", "med"]
tools = true
structured_output = true
temperature = false
status = "preview"
"#;

/// Runs the program with these files in its home.
fn with_files(files: &[(&str, &str)], arguments: &[&str], environment: &[(&str, &str)]) -> Said {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    let mut command = ikigai(arguments);
    command.env("IKIGAI_HOME", home.path());
    for (name, value) in environment {
        command.env(name, value);
    }
    let mut said = said(&mut command);
    said.stderr = said.stderr.replace(home.path().to_str().unwrap(), "HOME");
    said
}

fn at_home(arguments: &[&str]) -> String {
    let said = with_files(&[("providers.toml", PROVIDERS), ("models.toml", MODELS)], arguments, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    said.stdout
}

#[test]
fn the_four_levels_of_each_kind_of_model() {
    for (model, expected) in [
        ("claude-sonnet-4-5", json!([1024, 22016, 43008, 64000])),
        ("claude-opus-4-5", json!([1024, 22016, 43008, 64000])),
        ("claude-sonnet-4-5-20250929", json!([1024, 22016, 43008, 64000])),
        ("claude-haiku-4-5", json!([1024, 11349, 21674, 32000])),
        ("claude-3-7-sonnet", json!([1024, 11349, 21674, 32000])),
        ("gemini-2.5-pro", json!([128, 11008, 21888, 32768])),
        ("gemini-2.5-flash", json!([0, 8192, 16384, 24576])),
        ("gemini-2.5-flash-lite", json!([512, 8533, 16554, 24576])),
        ("gemini-3-pro", json!(["LOW", "LOW", "HIGH", "HIGH"])),
        ("o3-mini", json!(["medium", "low", "medium", "high"])),
        // Unknown to the catalogue: the rules of its family apply.
        ("claude-of-tomorrow", json!([1024, 22016, 43008, 64000])),
        // Served by many providers, none of which made it.
        ("gpt-oss-120b", json!(["low", "low", "medium", "high"])),
        ("gpt-4o", json!([null, null, null, null])),
    ] {
        let levels = json!({"none": expected[0], "low": expected[1], "med": expected[2], "high": expected[3]});
        // Compared as text: one object on one line, in this order.
        assert_eq!(printed(&["models", "thinking", model, "--json"]), format!("{levels}\n"), "{model}");
    }
}

#[test]
fn levels_for_people() {
    assert_snapshot!(printed(&["models", "thinking", "claude-sonnet-4-5"]), @r"
    LEVEL           SENT
    none             off
    low    22,016 tokens
    med    43,008 tokens
    high   55,808 tokens
    ");
    // Unknown: shows what its family is sent, like the chat when it switches to the model.
    assert_snapshot!(printed(&["models", "thinking", "claude-foo-9"]), @r"
    LEVEL    SENT
    none      low
    low       low
    med    medium
    high     high
    ");
    assert_snapshot!(printed(&["models", "thinking", "gpt-4o"]), @"gpt-4o does not think.");
}

#[test]
fn a_users_own_efforts_are_the_levels_of_a_model_without_a_family() {
    assert_eq!(
        at_home(&["models", "thinking", "home:large", "--json"]),
        "{\"none\":\"none\",\"low\":\"low\",\"med\":\"medium\",\"high\":\"medium\"}\n"
    );
}

#[test]
fn the_list_of_a_provider() {
    assert_snapshot!(at_home(&["models", "list", "--provider", "home"]), @r"
    MODEL         CONTEXT  OUTPUT  IN $/M  OUT $/M  THINKING  STATUS
    home:large  1,048,576  65,536    1.25    10.00  effort    preview
    home:small     32,768   4,096   0.075     0.30  -         active
    ");
}

#[test]
fn the_list_on_a_narrow_terminal() {
    let files = [("providers.toml", PROVIDERS), ("models.toml", MODELS)];
    let said = with_files(&files, &["models", "list", "-p", "home"], &[("COLUMNS", "40")]);
    assert_snapshot!(said.stdout, @r"
    MODEL         CONTEXT  OUTPUT  IN $/M
    home:large  1,048,576  65,536    1.25
    home:small     32,768   4,096   0.075
    ");
}

#[test]
fn the_list_is_searched_by_words() {
    assert_eq!(at_home(&["models", "list", "-q", "LARGE one"]).lines().count(), 2);
    let Said { code, stdout, stderr } = said(&mut ikigai(&["models", "list", "-q", "no such words"]));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert_eq!(stderr, "error: no model matches\n  `ikigai models list` lists them all.\n");
    assert_eq!(printed(&["models", "list", "-q", "no such words", "--json"]), "[\n]\n");
}

#[test]
fn the_list_as_json_has_one_model_a_line() {
    let text = printed(&["models", "list", "--json"]);
    let models: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(models.len() > 100, "{}", models.len());
    assert_eq!(text.lines().count(), models.len() + 2);
    let table = printed(&["models", "list"]);
    let names: Vec<&str> = table.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, models.iter().map(|model| model["model"].as_str().unwrap()).collect::<Vec<_>>());
}

#[test]
fn everything_about_a_model() {
    assert_snapshot!(at_home(&["models", "show", "home:large-2026-01-01"]));
    assert_snapshot!("everything_about_a_model_json", at_home(&["models", "show", "large", "--json"]));
}

#[test]
fn a_model_of_which_little_is_known() {
    let files = [("providers.toml", PROVIDERS), ("models.toml", "[home.mine]\n")];
    assert_snapshot!(with_files(&files, &["models", "show", "home:mine"], &[]).stdout);
}

#[test]
fn built_in_facts() {
    let model: Value = serde_json::from_str(&printed(&["models", "show", "gemini-2.5-pro", "--json"])).unwrap();
    assert_eq!(
        [&model["provider"], &model["context"], &model["prices"]["input"], &model["tiers"][0]["above"]],
        [&json!("google"), &json!(1_048_576), &json!(1.25), &json!(200_000)]
    );
}

#[test]
fn an_unknown_model_gets_the_three_nearest_names() {
    for command in ["show", "thinking"] {
        let Said { code, stdout, stderr } = said(&mut ikigai(&["models", command, "gpt5-minii"]));
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        let (what, hint) = stderr.split_once('\n').unwrap();
        assert_eq!(what, "error: unknown model `gpt5-minii`");
        let names = hint.trim().strip_prefix("The nearest are ").unwrap().split_once(';').unwrap().0;
        assert_eq!(names.split(", ").count(), 3, "{hint}");
        assert!(names.split(", ").any(|name| name == "gpt-5-mini"), "{hint}");
    }
}

#[test]
fn a_name_that_only_its_provider_can_know_is_not_made_up() {
    let Said { code, stderr, .. } = said(&mut ikigai(&["models", "show", "claude-of-tomorrow"]));
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("error: unknown model `anthropic:claude-of-tomorrow`\n  The nearest are claude-"));
    let Said { code, stderr, .. } = said(&mut ikigai(&["models", "thinking", "groq:of-tomorrow"]));
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("error: unknown model `groq:of-tomorrow`\n"), "{stderr}");
}

#[test]
fn an_unknown_provider_is_a_usage_error() {
    let Said { code, stderr, .. } = said(&mut ikigai(&["models", "list", "--provider", "antropic"]));
    assert_eq!(code, Some(2));
    assert_snapshot!(stderr, @r"
    error: unknown provider `antropic`
      Did you mean `anthropic`?

    For more information, try --help.
    ");
}

#[test]
fn a_broken_file_is_a_warning_with_its_place_and_the_rest_still_works() {
    let files = [("providers.toml", "[home]\nbase_urls = 'x'\n"), ("models.toml", "[groq.mine]\ncontext = 'many'\n")];
    let said = with_files(&files, &["models", "thinking", "claude-sonnet-4-5", "--json"], &[]);
    assert_eq!((said.code, said.stdout.lines().count()), (Some(0), 1));
    assert_snapshot!(said.stderr);
}

#[test]
fn a_file_that_cannot_be_read_is_a_warning() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("models.toml")).unwrap();
    std::fs::write(home.path().join("providers.toml"), b"\xff\xfe").unwrap();
    let said = said(ikigai(&["models", "thinking", "o3-mini"]).env("IKIGAI_HOME", home.path()));
    assert_eq!(said.code, Some(0));
    assert_eq!(said.stderr.matches("warning: ").count(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("models.toml: ") && said.stderr.contains("providers.toml: "), "{}", said.stderr);
}

#[test]
#[cfg(unix)]
fn files_are_found_where_the_system_keeps_settings() {
    let home = tempfile::tempdir().unwrap();
    for folder in ["own", "config/ikigai", "user/.config/ikigai"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
        let models = format!("[groq.mine]\nname = \"{folder}\"\n");
        std::fs::write(home.path().join(folder).join("models.toml"), models).unwrap();
    }
    let name = |environment: &[(&str, &str)]| {
        let mut command = ikigai(&["models", "show", "groq:mine", "--json"]);
        command.env_remove("IKIGAI_HOME");
        for (name, value) in environment {
            command.env(name, home.path().join(value));
        }
        serde_json::from_str::<Value>(&said(&mut command).stdout).unwrap()["name"].clone()
    };
    let (own, config, user) = (("IKIGAI_HOME", "own"), ("XDG_CONFIG_HOME", "config"), ("HOME", "user"));
    assert_eq!(name(&[user]), "user/.config/ikigai");
    assert_eq!(name(&[user, config]), "config/ikigai");
    assert_eq!(name(&[user, config, own]), "own");
}
