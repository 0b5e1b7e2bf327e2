use pretty_assertions::assert_eq;

use super::*;

fn environment() -> Environment {
    Environment::of([("CLIENT", "0123456789abcdef-client"), ("PROVIDER", "sk-provider"), ("SHORT", "short")])
}

fn read(text: &str) -> Result<Config, String> {
    Config::read("g.toml", text, &environment()).map_err(|error| error.to_string())
}

const KEYS: &str = "auth.keys = [\"env:CLIENT\"]\n";

#[test]
fn a_whole_file_is_understood() {
    let text = r#"
listen = "0.0.0.0:0"
strict = true
attempts = 3
[auth]
keys = ["env:CLIENT"]
[providers.anthropic]
base_url = "http://127.0.0.1:9100"
api_key = "env:PROVIDER"
[providers.mine]
base_url = "http://127.0.0.1:9200/v1"
[models.smart]
targets = ["anthropic:claude-sonnet-4-5/med", { model = "openai:gpt-5.4", dialect = "openai-chat" }, "mine:big"]
answer_model = "asked"
[limits]
body = 4096
[timeouts]
head = 0.5
"#;
    let config = read(text).unwrap();
    assert_eq!((config.listen.port(), config.strict, config.attempts), (0, true, 3));
    assert!(
        matches!(&config.access, Access::Keys(keys) if keys == &[ClientKey::new("0123456789abcdef-client", "CLIENT")])
    );
    let providers: Vec<_> = config
        .providers
        .iter()
        .map(|setup| (setup.id.as_str(), setup.key.as_ref().map(|key| key.expose().to_owned()), setup.base_url.clone()))
        .collect();
    assert_eq!(
        providers,
        [
            ("anthropic", Some("sk-provider".to_owned()), Some("http://127.0.0.1:9100".to_owned())),
            ("mine", None, Some("http://127.0.0.1:9200/v1".to_owned())),
        ]
    );
    let smart = &config.models[0];
    let targets: Vec<_> = smart.targets.iter().map(|target| (target.name.to_string(), target.dialect)).collect();
    assert_eq!(smart.pattern, "smart");
    assert!(smart.answers_as_asked);
    assert_eq!(
        targets,
        [
            ("anthropic:claude-sonnet-4-5/med".to_owned(), None),
            ("openai:gpt-5.4".to_owned(), Some("openai-chat".parse().unwrap())),
            ("mine:big".to_owned(), None),
        ]
    );
    assert_eq!((config.limits.body, config.timeouts.head), (4096, Duration::from_millis(500)));
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (text, message) in [
        (
            "listen = \"nowhere\"",
            "g.toml:1:10: listen: `nowhere` is not an address with a port, such as 127.0.0.1:4000",
        ),
        ("", "g.toml:1:1: auth.keys: there are no keys; add `keys = [\"env:NAME\"]` under [auth]"),
        ("[auth]\nmode = \"opne\"", "g.toml:2:8: auth.mode: unknown word `opne`; did you mean `open`?"),
        (
            "listen = \"0.0.0.0:1\"\n[auth]\nmode = \"open\"",
            "g.toml:3:8: auth.mode: `open` is only allowed on loopback, and this gateway listens on 0.0.0.0",
        ),
        ("auth.keys = [\"env:NONE\"]", "g.toml:1:14: auth.keys[0]: the variable NONE is not set"),
        ("auth.keys = [\"env:SHORT\"]", "g.toml:1:14: auth.keys[0]: a client's key needs at least 16 characters"),
        (
            "auth.mode = \"open\"\n[models.a]\ntargets = [\"claude-sonnet-4-5\", \"anthropc:x\"]",
            "g.toml:3:33: models.a.targets[1]: unknown provider `anthropc`; did you mean `anthropic`?",
        ),
        ("auth.mode = \"open\"\n[models.a]\ntargets = []", "g.toml:3:11: models.a.targets: needs at least one model"),
        (
            "auth.mode = \"open\"\n[models.a]\ntargets = [{ model = \"anthropic:x\", dialect = \"gemini\" }]",
            "g.toml:3:12: models.a.targets[0]: anthropic does not speak gemini; it speaks anthropic",
        ),
        (
            "auth.mode = \"open\"\n[providers.openai]\nbase_ulr = \"x\"",
            "g.toml:2:12: providers.openai.base_ulr: unknown key `base_ulr`; did you mean `base_url`?",
        ),
        (
            "auth.mode = \"open\"\n[timeouts]\nidle = -1.0",
            "g.toml:3:8: timeouts.idle: must be a number of seconds above 0",
        ),
        ("auth.mode = \"open\"\nattempts = 0", "g.toml:2:12: attempts: must be from 1 to 10"),
    ] {
        assert_eq!(read(text).unwrap_err(), message, "{text}");
    }
}

#[test]
fn a_secret_in_the_file_itself_is_a_warning_that_does_not_show_it() {
    let config = read("auth.keys = [\"this-is-a-secret-of-a-client\"]").unwrap();
    assert_eq!(
        config.warnings,
        ["g.toml:1:14: auth.keys[0]: the secret is in the file itself; use `env:NAME` or `file:PATH` instead"]
    );
    assert!(!format!("{config:?}").contains("this-is-a-secret"));
}

#[test]
fn the_example_is_valid() {
    let environment = Environment::of([("IKIGAI_CLIENT_KEY", "0123456789abcdef")]);
    let config = Config::read("example.toml", example(), &environment).unwrap();
    assert_eq!((config.limits, config.timeouts), (ServerLimits::default(), ServerTimeouts::default()));
    // The lines that are commented out are valid as well.
    let all: String = example()
        .lines()
        .map(|line| {
            line.strip_prefix("# ").filter(|line| line.starts_with('[') || line.contains(" = ")).unwrap_or(line)
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let environment =
        Environment::of([("IKIGAI_CLIENT_KEY", "0123456789abcdef"), ("ANTHROPIC_API_KEY", "sk-ant-0123456789")]);
    let all = all.replace("strict = true\n", "").replace("attempts = 2\n", "");
    assert_eq!(Config::read("example.toml", &all, &environment).map(|config| config.models.len()), Ok(2));
}

#[test]
fn only_some_settings_need_a_restart() {
    let config = |rest: &str| read(&format!("{KEYS}{rest}")).unwrap();
    assert_eq!(config("").needs_restart(&config("strict = true")), None);
    assert_eq!(config("").needs_restart(&config("listen = \"127.0.0.1:1\"")), Some("listen"));
}

#[cfg(unix)]
#[test]
fn a_secret_without_end_is_not_read_to_its_end() {
    let error = read("auth.keys = [\"file:/dev/zero\"]").unwrap_err();
    assert_eq!(error, "g.toml:1:14: auth.keys[0]: cannot read /dev/zero: it has more than 65536 bytes");
}
