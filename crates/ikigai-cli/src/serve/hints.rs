//! What the user sees when the gateway has started: the key, the providers, and how to configure programs.

use ikigai_gateway::Gateway;

use crate::output::Out;

/// Prints the hints on standard error.
pub(super) fn show(gateway: &Gateway, made: Option<&str>, is_first_steps: bool, out: &mut Out) {
    let reachable = gateway.reachable();
    let named = if reachable.is_empty() { "none; set the key of one".to_owned() } else { reachable.join(", ") };
    out.note(&format!("Providers: {named}\n"));
    if !is_first_steps {
        return;
    }
    match made {
        Some(key) => out.note(&format!(
            "Client key: {key}\n  Shown only once. Your programs send it instead of a provider's key.\n"
        )),
        None => out.note("Client key: as before; `ikigai serve --new-key` creates a new one.\n"),
    }
    out.note(&settings(&gateway.url(), made.unwrap_or("$KEY")));
}

/// Returns settings to copy, for widely used programs.
fn settings(url: &str, key: &str) -> String {
    format!(
        "\n\
         OpenAI SDKs    OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}\n\
         Anthropic SDKs ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key}\n\
         Google SDKs    GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key}\n\
         Claude Code    ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN={key} claude --model sim\n\
         Codex          codex -c model_provider=ikigai -c 'model_providers.ikigai={{name=\"ikigai\",base_url=\"{url}/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}}' -m sim\n\
         Gemini CLI     GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key} gemini -m sim\n\
         opencode       {{\"provider\":{{\"ikigai\":{{\"npm\":\"@ai-sdk/openai-compatible\",\"options\":{{\"baseURL\":\"{url}/v1\",\"apiKey\":\"{key}\"}},\"models\":{{\"sim\":{{}}}}}}}}}}\n\
         curl           curl {url}/v1/chat/completions -H 'authorization: Bearer {key}' -H 'content-type: application/json' -d '{{\"model\":\"sim\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}]}}'\n\
         \n\
         `sim` is the built-in simulator. Other models go by their provider's name for them, or by `provider:model`.\n"
    )
}
