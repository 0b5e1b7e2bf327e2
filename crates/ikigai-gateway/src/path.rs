//! Paths that clients build from a base URL meant for another client.

/// Returns a path in its usual form: one version, no empty parts. Clients differ in whether the base URL ends with the
/// version, so it may be there twice or not at all. Of two, the last one counts: the client itself has added it.
pub(crate) fn usual(target: &str) -> String {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    let mut usual = String::with_capacity(target.len() + 4);
    if let Some(base) = parts.next_if(|part| matches!(*part, "anthropic" | "openai" | "gemini")) {
        usual.push('/');
        usual.push_str(base);
    }
    let mut version = None;
    while let Some(named) = parts.next_if(|part| matches!(*part, "v1" | "v1beta" | "v1alpha")) {
        version = Some(named);
    }
    usual.push('/');
    usual.push_str(version.unwrap_or("v1"));
    for part in parts {
        usual.push('/');
        usual.push_str(part);
    }
    if let Some(query) = query {
        usual.push('?');
        usual.push_str(query);
    }
    usual
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_version_is_there_once_and_nothing_is_empty() {
        for (target, expected) in [
            ("/chat/completions", "/v1/chat/completions"),
            ("/v1/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("/v1//responses", "/v1/responses"),
            ("/v1/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
            ("/models/m:streamGenerateContent?alt=sse", "/v1/models/m:streamGenerateContent?alt=sse"),
            ("/openai/chat/completions", "/openai/v1/chat/completions"),
            ("//anthropic/v1/v1/messages/", "/anthropic/v1/messages"),
            ("/v1/messages", "/v1/messages"),
            ("/", "/v1"),
            ("", "/v1"),
        ] {
            assert_eq!(usual(target), expected, "{target}");
        }
    }
}
