//! Removes credentials from what is shown. Everything that prints a URL, a header or a program's arguments uses it.

/// The replacement for what is hidden.
pub(crate) const HIDDEN: &str = "…";

/// Parameters whose values may be shown.
const PARAMETERS: [&str; 8] =
    ["alt", "api-version", "application_name", "connect_timeout", "dbname", "host", "port", "sslmode"];
/// Headers whose values may be shown.
const HEADERS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "content-length",
    "content-type",
    "host",
    "openai-beta",
    "user-agent",
    "x-amz-date",
    "x-goog-api-client",
    "x-goog-user-project",
];
/// Parts of an option's name that make its value a secret.
const SECRETS: [&str; 8] = ["auth", "cookie", "credential", "key", "pass", "secret", "signature", "token"];

/// Removes a URL's user name and password, and the values of parameters that may be keys.
pub(crate) fn address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(host_end).unwrap_or((rest, ""));
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    // A password that contains a slash ends the host too early; hiding too much is better than too little.
    let is_cut = !port.chars().all(|c| c.is_ascii_digit());
    let user_end = if authority.contains('@') || is_cut { rest.rfind('@') } else { None };
    let rest = match user_end.and_then(|end| rest.get(end + 1..)) {
        Some(host) => format!("{HIDDEN}@{host}"),
        None => rest.to_owned(),
    };
    let (place, query) = rest.split_once('?').map_or((rest.as_str(), None), |(place, query)| (place, Some(query)));
    let mut shown = if scheme.is_empty() { place.to_owned() } else { format!("{scheme}://{place}") };
    if let Some(query) = query {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if !PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) => format!("{name}={HIDDEN}"),
            Some(_) => pair.to_owned(),
            None => HIDDEN.to_owned(),
        });
        shown.push('?');
        shown.push_str(&pairs.collect::<Vec<_>>().join("&"));
    }
    shown
}

/// Returns a header's value, if its name says that it may be shown. A value containing `[key]` is already redacted.
pub(crate) fn header(name: &str, value: &str) -> String {
    let is_harmless = HEADERS.contains(&name.to_ascii_lowercase().as_str()) || value.contains("[key]");
    if is_harmless { value.to_owned() } else { HIDDEN.to_owned() }
}

/// Returns a command without the values of options that may be keys, and without secrets in URLs.
pub(crate) fn command(words: &[String]) -> Vec<String> {
    let names_a_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        SECRETS.iter().any(|word| name.contains(word))
    };
    let mut after_secret = false;
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        let hidden = std::mem::take(&mut after_secret);
        shown.push(match word.split_once('=') {
            _ if hidden && !word.starts_with('-') => HIDDEN.to_owned(),
            Some((name, _)) if names_a_secret(name) => format!("{name}={HIDDEN}"),
            _ if word.contains("://") => address(word),
            _ => {
                after_secret = word.starts_with('-') && names_a_secret(word);
                word.clone()
            }
        });
    }
    shown
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn addresses_are_shown_without_what_lets_in() {
        for (url, shown) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://me:secret@host:8080/v1?key=abc&api-version=1", "https://…@host:8080/v1?key=…&api-version=1"),
            ("https://token@host", "https://…@host"),
            ("https://h/@scope/x", "https://h/@scope/x"),
            ("http://[::1]:80/@x", "http://[::1]:80/@x"),
            ("localhost,.example.com", "localhost,.example.com"),
            (
                "postgres://me:se/cr?et@host/name?sslmode=require&password=x",
                "postgres://…@host/name?sslmode=require&password=…",
            ),
            ("postgres://me:se@cret@host/name", "postgres://…@host/name"),
            ("me:se@cret@proxy", "…@proxy"),
            ("proxy:8080", "proxy:8080"),
            ("https://h/?abcdef", "https://h/?…"),
        ] {
            assert_eq!(address(url), shown, "{url}");
        }
    }

    #[test]
    fn headers_and_commands_too() {
        assert_eq!(header("Content-Type", "application/json"), "application/json");
        assert_eq!(header("x-team", "secret"), "…");
        assert_eq!(header("authorization", "Bearer [key]"), "Bearer [key]");
        let words = ["npx", "server", "--api-key", "abc", "--token=abc", "https://a:b@h", "--verbose", "x"];
        let shown = ["npx", "server", "--api-key", "…", "--token=…", "https://…@h", "--verbose", "x"];
        assert_eq!(command(&words.map(str::to_owned)), shown);
    }
}
