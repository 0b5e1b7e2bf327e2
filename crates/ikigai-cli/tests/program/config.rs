//! `ikigai config`.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Home, Said, ikigai};

fn done() -> Said {
    Said { code: Some(0), stdout: String::new(), stderr: String::new() }
}

#[test]
fn all_files_and_folders_are_told() {
    let home = Home::new();
    assert_snapshot!(home.said(&["config", "path"]).stdout, @r"
    config       HOME
    data         HOME
    state        HOME
    cache        HOME/cache
    settings     HOME/config.toml
    credentials  HOME/credentials.toml
    providers    HOME/providers.toml
    models       HOME/models.toml
    database     HOME/ikigai.db
    ");
    assert_eq!(home.said(&["config", "path", "settings"]).stdout, "HOME/config.toml\n");
    let json: Value = serde_json::from_str(&home.said(&["config", "path", "--json"]).stdout).unwrap();
    assert_eq!(json["database"], "HOME/ikigai.db");
    let home = home.file("config.toml", "database = \"postgres://me:secret@host/chats\"\n");
    assert_eq!(home.said(&["config", "path", "database"]).stdout, "postgres://…@host/chats\n");
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_home_of_its_own_they_are_where_the_system_says() {
    let at = |variables: &[(&str, &str)]| {
        let mut command = ikigai(&["config", "path"]);
        command.env_remove("IKIGAI_HOME").env("HOME", "/home/me");
        for (name, value) in variables {
            command.env(name, value);
        }
        crate::support::said(&mut command).stdout
    };
    assert_snapshot!(at(&[]), @r"
    config       /home/me/.config/ikigai
    data         /home/me/.local/share/ikigai
    state        /home/me/.local/state/ikigai
    cache        /home/me/.cache/ikigai
    settings     /home/me/.config/ikigai/config.toml
    credentials  /home/me/.config/ikigai/credentials.toml
    providers    /home/me/.config/ikigai/providers.toml
    models       /home/me/.config/ikigai/models.toml
    database     /home/me/.local/share/ikigai/ikigai.db
    ");
    let moved =
        at(&[("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "/k")]);
    let folders: Vec<&str> = moved.lines().take(4).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(folders, ["/c/ikigai", "/d/ikigai", "/s/ikigai", "/k/ikigai"]);
}

#[test]
fn settings_are_changed_and_comments_stay() {
    let home = Home::new().file("config.toml", "# mine\ntools = true # for now\n");
    assert_eq!(home.said(&["config", "set", "tools", "off"]), done());
    assert_eq!(home.said(&["config", "set", "model", "claude-sonnet-4-5/med"]), done());
    assert_eq!(home.said(&["config", "set", "mcp.files.command", "[\"npx\", \"files\"]"]), done());
    assert_eq!(home.said(&["config", "set", "mcp.files.env.TOKEN", "very-secret"]), done());
    assert_snapshot!(home.text("config.toml"), @r#"
    # mine
    tools = false # for now
    model = "claude-sonnet-4-5/med"

    [mcp.files]
    command = ["npx", "files"]
    env = { TOKEN = "very-secret" }
    "#);
    assert_eq!(home.said(&["config", "get", "model"]).stdout, "claude-sonnet-4-5/med\n");
    assert_eq!(home.said(&["config", "get", "tools"]).stdout, "false\n");
    assert_eq!(home.said(&["config", "get", "mcp.files.command"]).stdout, "[\"npx\",\"files\"]\n");
    assert_snapshot!(home.said(&["config", "show"]).stdout, @r#"
    # HOME/config.toml
    # system is not set
    model = "claude-sonnet-4-5/med"
    thinking_display = "hide"
    keys = "emacs"
    tools = false
    save = true
    bell = true

    [mcp.files]
    command = ["npx", "files"]

    [mcp.files.env]
    TOKEN = "…"
    "#);
    assert!(!home.said(&["config", "show", "--json"]).stdout.contains("very-secret"));
    assert_eq!(home.said(&["config", "unset", "mcp.files"]), done());
    assert_eq!(home.said(&["config", "unset", "model"]), done());
    assert_eq!(home.text("config.toml"), "# mine\ntools = false # for now\n");
}

#[test]
fn what_means_nothing_is_refused_and_the_file_stays() {
    let text = "keys = \"vi\"\n";
    let home = Home::new().file("config.toml", text);
    let refused = |arguments: &[&str]| {
        let Said { code, stderr, .. } = home.said(arguments);
        assert_eq!(home.text("config.toml"), text);
        (code.unwrap(), stderr.lines().take(2).collect::<Vec<_>>().join("\n"))
    };
    let told = |code: i32, text: &str| (code, text.to_owned());
    assert_eq!(
        refused(&["config", "set", "modle", "x"]),
        told(2, "error: `modle` is not a setting\n  Did you mean `model`?")
    );
    assert_eq!(
        refused(&["config", "set", "keys", "nano"]),
        told(
            1,
            "error: HOME/config.toml:1:8: keys: unknown value `nano`; use emacs or vi\n  The file stays as it was."
        )
    );
    assert_eq!(refused(&["config", "set", "tools", "maybe"]), told(2, "error: tools is true or false, not `maybe`\n"));
    assert_eq!(refused(&["config", "set", "model", "cluade-sonnet-4-5"]).0, 1);
    assert_eq!(refused(&["config", "set", "mcp.a.env.X", "1"]).0, 1, "a server without a command");
    assert_eq!(refused(&["config", "get", "model"]), told(1, "error: model is not set\n  ikigai config set model …"));
    assert_eq!(refused(&["config", "unset", "model"]), told(1, "error: model is not set"));
}

#[test]
fn every_file_is_checked() {
    let none = Home::new().said(&["config", "check"]);
    assert_eq!((none.code, none.stdout.lines().filter(|line| line.starts_with("none ")).count()), (Some(0), 4));

    let home = Home::new().file("config.toml", "modle = \"x\"\n").file("models.toml", "[groq.mine]\ncontext = 1\n");
    let Said { code, stdout, stderr } = home.said(&["config", "check"]);
    assert_eq!(code, Some(0));
    assert_snapshot!(format!("{stdout}{stderr}"), @r"
    warning  HOME/config.toml
    none     HOME/credentials.toml
    none     HOME/providers.toml
    ok       HOME/models.toml
    warning: HOME/config.toml:1:1: modle: unknown key `modle`; did you mean `model`?
    ");

    let home = home.file("config.toml", "tools = 1\n").file("providers.toml", "[home]\nbase_urls = 1\n");
    let Said { code, stdout, stderr } = home.said(&["config", "check"]);
    assert_eq!(code, Some(1));
    assert_snapshot!(format!("{stdout}{stderr}"), @r"
    broken   HOME/config.toml
    none     HOME/credentials.toml
    broken   HOME/providers.toml
    ok       HOME/models.toml
    error: HOME/config.toml:1:9: tools: invalid type: integer `1`, expected a boolean
    error: HOME/providers.toml:2:1: home.base_urls: unknown key `base_urls`; did you mean `base_url`?
    error: 2 files are broken
    ");
}

#[test]
#[cfg(unix)]
fn keys_that_others_may_read_or_that_are_nobodys_are_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new().file("credentials.toml", "antropic = \"sk-very-secret\"\n");
    let mode = |mode| {
        std::fs::set_permissions(home.path("credentials.toml"), std::fs::Permissions::from_mode(mode)).unwrap();
        home.said(&["config", "check"])
    };
    let open = mode(0o644);
    assert_eq!(open.code, Some(1));
    assert!(open.stderr.contains("others may read this file (mode 644); run: chmod 600 "), "{}", open.stderr);
    let odd = mode(0o600);
    assert_eq!(odd.code, Some(0));
    assert_eq!(odd.stderr, "warning: HOME/credentials.toml: unknown provider `antropic`; did you mean `anthropic`?\n");
}

#[test]
#[cfg(unix)]
fn the_editor_gets_the_file_and_what_it_leaves_is_checked() {
    let home = Home::new().variable("PATH", std::env::var("PATH").unwrap());
    let home = home.variable("EDITOR", "sh -c 'echo \"keys = \\\"$0\\\"\" >> \"$1\"' vi");
    let Said { code, stdout, stderr } = home.said(&["config", "edit"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "ok       HOME/config.toml\n", ""));
    let text = home.text("config.toml");
    assert!(text.starts_with("# Settings of ikigai.") && text.ends_with("keys = \"vi\"\n"), "{text}");
    let home = home.variable("VISUAL", "sed -i 's/\"vi\"/7/'");
    let broken = home.said(&["config", "edit"]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.stderr.contains("keys: "), "{}", broken.stderr);
    let failed = home.variable("VISUAL", "false").said(&["config", "edit"]);
    assert_eq!((failed.code, failed.stderr.starts_with("error: false ended with ")), (Some(1), true));
}
