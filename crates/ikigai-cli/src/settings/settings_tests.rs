use pretty_assertions::assert_eq;

use super::*;

fn read(text: &str) -> Result<(Settings, Vec<String>), String> {
    match read::read("config.toml", text) {
        Ok((settings, warnings)) => Ok((settings, warnings.iter().map(ToString::to_string).collect())),
        Err(failure) => Err(failure.what),
    }
}

#[test]
fn an_empty_file_has_every_default() {
    assert_eq!(read(""), Ok((Settings::default(), Vec::new())));
    let settings = Settings::default();
    assert_eq!((settings.tools, settings.save, settings.keys), (true, true, EditKeys::Emacs));
}

#[test]
fn everything_that_can_be_set() {
    let text = r#"
model = "claude-sonnet-4-5/high"
system = "Be brief."
thinking_display = "show"
keys = "vi"
tools = false
database = "postgres://me@localhost/ikigai"
save = false
bell = false

[aliases]
fast = "flash"

[roles.reviewer]
prompt = "Review."
model = "opus"
thinking = "high"
tools = false

[templates.translate]
text = "Into {{language}}: {{input}}"

[models."claude-*"]
temperature = 0.5
stop = ["END"]

[mcp.files]
command = ["npx", "server-files", "."]
env = { DEBUG = "1" }

[mcp.search]
url = "https://example.com/mcp"
headers = { authorization = "Bearer x" }
"#;
    let table = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let expected = Settings {
        aliases: table("fast", "flash"),
        bell: false,
        roles: BTreeMap::from([(
            "reviewer".to_owned(),
            Role {
                prompt: "Review.".to_owned(),
                model: Some("opus".to_owned()),
                thinking: Some(ikigai::Level::High),
                tools: Some(false),
            },
        )]),
        templates: BTreeMap::from([(
            "translate".to_owned(),
            Template { text: "Into {{language}}: {{input}}".to_owned() },
        )]),
        models: BTreeMap::from([(
            "claude-*".to_owned(),
            ModelOptions { temperature: Some(0.5), stop: vec!["END".to_owned()], ..ModelOptions::default() },
        )]),
        model: Some("claude-sonnet-4-5/high".to_owned()),
        system: Some("Be brief.".to_owned()),
        thinking_display: ThinkingDisplay::Show,
        keys: EditKeys::Vi,
        tools: false,
        database: Some("postgres://me@localhost/ikigai".to_owned()),
        save: false,
        mcp: BTreeMap::from([
            (
                "files".to_owned(),
                McpServer {
                    command: ["npx", "server-files", "."].map(str::to_owned).to_vec(),
                    env: table("DEBUG", "1"),
                    ..McpServer::default()
                },
            ),
            (
                "search".to_owned(),
                McpServer {
                    url: Some("https://example.com/mcp".to_owned()),
                    headers: table("authorization", "Bearer x"),
                    ..McpServer::default()
                },
            ),
        ]),
    };
    assert_eq!(read(text), Ok((expected.clone(), Vec::new())));
    // The printed settings can be read again.
    assert_eq!(read(&toml::to_string(&expected).unwrap()), Ok((expected, Vec::new())));
}

#[test]
fn unknown_keys_are_warnings_with_their_place_and_the_nearest_key() {
    let text = "# mine\nmodle = \"x\"\nweather = 1\n\n[mcp.a]\ncommand = [\"a\"]\n  enw = {}\n\
                [roles.b]\nprompt = \"c\"\ntemprature = 1\n[models.\"d-*\"]\ntemprature = 1\n";
    assert_eq!(
        read(text).unwrap().1,
        [
            "config.toml:2:1: modle: unknown key `modle`; did you mean `model`?",
            "config.toml:3:1: weather: unknown key `weather`; known keys: model, system, thinking_display, keys, tools, \
             database, save, bell, aliases, roles, templates, models, mcp",
            "config.toml:7:3: mcp.a.enw: unknown key `enw`; did you mean `env`?",
            "config.toml:10:1: roles.b.temprature: unknown key `temprature`; known keys: prompt, model, thinking, tools",
            "config.toml:12:1: models.d-*.temprature: unknown key `temprature`; did you mean `temperature`?",
        ]
    );
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    for (text, expected) in [
        ("a = 1\ntools = \"yes\"", "config.toml:2:9: tools: invalid type: string \"yes\", expected a boolean"),
        ("keys = \"nano\"", "config.toml:1:8: keys: unknown value `nano`; use emacs or vi"),
        ("[mcp.a]\nenv = { A = 1 }", "config.toml:2:13: mcp.a.env.A: invalid type: integer `1`, expected a string"),
        ("\n[roles.a]\n", "config.toml:2:1: roles.a: missing field `prompt`"),
        (
            "[roles.a]\nprompt = \"b\"\nthinking = \"hihg\"",
            "config.toml:3:12: roles.a.thinking: unknown value `hihg`; use none or minimal or low or med or medium or high or xhigh or max",
        ),
        ("[models.\"[\"]\n", "config.toml:1:9: models: invalid pattern `[`: unclosed character class; missing ']'"),
        ("\n[mcp.a]\n", "config.toml:2:6: mcp.a: it needs a `command`, as a list of words, or a `url`"),
        (
            "[mcp.a]\ncommand = [\"a\"]\nurl = \"b\"",
            "config.toml:1:6: mcp.a: it has both a `command` and a `url`; remove one",
        ),
    ] {
        assert_eq!(read(text), Err(expected.to_owned()), "{text}");
    }
    let error = read("model = \n").unwrap_err();
    assert!(error.starts_with("config.toml:1:9: "), "{error}");
}

#[test]
fn the_database_is_a_file_or_an_address_and_shows_no_password() {
    let places = Places::below(std::path::Path::new("/home/me/ikigai"));
    let of = |text: Option<&str>| {
        Settings { database: text.map(str::to_owned), ..Settings::default() }.database_or(None, &places).shown()
    };
    assert_eq!(of(None), "/home/me/ikigai/ikigai.db");
    assert_eq!(Settings::default().database_or(Some("/srv/other.db"), &places), Database::File("/srv/other.db".into()));
    assert_eq!(of(Some(" ")), "/home/me/ikigai/ikigai.db");
    assert_eq!(of(Some("chats.db")), "/home/me/ikigai/chats.db");
    assert_eq!(of(Some("/srv/chats.db")), "/srv/chats.db");
    assert_eq!(
        of(Some("postgres://me:se:cr@et@host:5432/db?sslmode=require")),
        "postgres://…@host:5432/db?sslmode=require"
    );
    assert_eq!(of(Some("postgresql://host/db?user=me&Password=secret")), "postgresql://host/db?user=…&Password=…");
    assert_eq!(of(Some("postgres://me@host/db")), "postgres://…@host/db");
}
