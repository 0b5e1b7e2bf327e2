//! The models that exist, and how each API lists them.

use ikigai_core::catalog::{Catalog, Facts, Modality, Rules, rules_for};
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use serde_json::{Value, json};

use crate::deliver::Answer;
use crate::service::Call;

/// Prefixes of names that were once served; the catalogue no longer has them, recorded conversations do.
const RETIRED_ANTHROPIC: &[&str] = &["claude-instant-1", "claude-2", "claude-3-"];
const RETIRED_OPENAI: &[&str] = &[
    "gpt-3.5-turbo",
    "gpt-4-",
    "gpt-4.5-preview",
    "chatgpt-4o-latest",
    "o1-mini",
    "o1-preview",
    "codex-mini-latest",
    "computer-use-preview",
    "gpt-4o",
    "gpt-4.1",
    "gpt-5.6",
    "gpt-image-",
    "chatgpt-image-",
    "dall-e-",
    "gpt-transcribe",
    "text-embedding-",
    "tts-1",
    "whisper-1",
];
const RETIRED_GOOGLE: &[&str] = &[
    "gemini-1.0-",
    "gemini-1.5-",
    "gemini-2.0-",
    "gemini-2.5-",
    "gemini-exp-",
    "gemini-3-",
    "gemini-embedding-",
    "imagen-",
    "text-embedding-004",
    "gemma-",
    "learnlm-",
];

/// Prefixes of names that servers with APIs like OpenAI's have served.
const OPEN: &[&str] = &[
    "qwen",
    "llama",
    "grok",
    "mistral",
    "mixtral",
    "voxtral",
    "magistral",
    "codestral",
    "devstral",
    "pixtral",
    "ministral",
    "compound",
    "openai-",
    "deepseek",
    "glm",
    "kimi",
    "gemma",
    "phi",
    "command",
    "sonar",
    "minimax",
    "nemotron",
    "granite",
    "gpt-oss",
    "hermes",
    "smollm",
    "olmo",
    "venice",
    "nomic",
    "bge",
    "mxbai",
    "jina",
    "voyage",
    "gte",
    "e5",
    "whisper",
    "flux",
    "stable-diffusion",
    "kokoro",
    "orpheus",
];

fn listed(provider: &str, model: &str) -> bool {
    Catalog::shared().find(Some(provider), model).is_some()
}

fn begins(model: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| model.starts_with(beginning))
}

/// Words that follow the prefix of a name that was once served.
const VARIANTS: &[&str] = &[
    "mini",
    "nano",
    "preview",
    "latest",
    "turbo",
    "audio",
    "search",
    "realtime",
    "vision",
    "instruct",
    "pro",
    "lite",
    "flash",
    "exp",
    "thinking",
    "image",
    "generation",
    "tts",
    "it",
    "sonnet",
    "opus",
    "haiku",
    "sol",
    "terra",
    "luna",
    "native",
    "dialog",
    "live",
    "codex",
    "customtools",
    "robotics",
    "er",
    "small",
    "large",
    "ada",
    "generate",
    "fast",
    "ultra",
    "sunburst",
    "flare",
    "hd",
    "transcribe",
    "diarize",
];

/// Whether a name begins with one of these, followed only by versions, dates and known words.
fn was_served(model: &str, beginnings: &[&str]) -> bool {
    let is_version = |word: &str| word.chars().next().is_some_and(|c| c.is_ascii_digit()) || word.starts_with('v');
    beginnings.iter().filter_map(|beginning| model.strip_prefix(beginning)).any(|rest| {
        rest.split(['-', '.', ':', '@']).all(|word| word.is_empty() || is_version(word) || VARIANTS.contains(&word))
    })
}

/// Whether Anthropic has ever had such a model.
pub(crate) fn anthropic_has(model: &str) -> bool {
    listed("anthropic", model) || was_served(model, RETIRED_ANTHROPIC)
}

/// Whether a server with an API like OpenAI's has ever had such a model.
pub(crate) fn openai_has(model: &str) -> bool {
    if is_openais(model) {
        return listed("openai", model) || was_served(model, RETIRED_OPENAI);
    }
    // Routers name models `vendor/model`; local servers accept any name, usually one that begins with the family's.
    model.contains('/')
        || begins(&model.to_lowercase(), OPEN)
        || Catalog::shared().models().any(|facts| facts.id == model)
        || *rules_for(model) != Rules::default()
}

/// Whether it is one of OpenAI's models that do not chat but make embeddings, pictures or sounds.
pub(crate) fn never_chats(model: &str) -> bool {
    let beginnings =
        ["text-embedding-", "gpt-image-", "chatgpt-image-", "dall-e-", "gpt-transcribe", "tts-1", "whisper-1"];
    begins(model, &beginnings)
        || (model.starts_with("gpt-4o") && (model.contains("-tts") || model.contains("-transcribe")))
}

/// Whether one of Google's models draws, by what is known about it or by its name.
pub(crate) fn google_draws(model: &str) -> bool {
    google_writes(model, Modality::Image) || model.contains("image")
}

/// Whether one of Google's models speaks.
pub(crate) fn google_speaks(model: &str) -> bool {
    google_writes(model, Modality::Audio) || model.contains("-tts") || model.contains("native-audio")
}

fn google_writes(model: &str, modality: Modality) -> bool {
    Catalog::shared().find(Some("google"), model).is_some_and(|facts| facts.output.contains(&modality))
}

/// Whether a name is one of OpenAI's own. The open weights are not: others serve them.
pub(crate) fn is_openais(model: &str) -> bool {
    let own = ["gpt-", "o1", "o3", "o4", "chatgpt-", "codex-", "text-embedding-", "dall-e-", "tts-1", "whisper-1"];
    begins(model, &own) && !model.starts_with("gpt-oss")
}

/// Whether Google has ever had such a model.
pub(crate) fn google_has(model: &str) -> bool {
    listed("google", model) || was_served(model, RETIRED_GOOGLE)
}

/// Refuses a model that never existed, in the same way for every verb.
pub(crate) fn check(dialect: Dialect, model: &str) -> Result<(), WireError> {
    let has = match dialect {
        Dialect::Anthropic => anthropic_has(model),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => openai_has(model),
        Dialect::Gemini => google_has(model),
        _ => false,
    };
    if has { Ok(()) } else { Err(unknown(dialect, model)) }
}

/// The refusal of a model that never existed.
fn unknown(dialect: Dialect, model: &str) -> WireError {
    let message = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            format!("The model `{model}` does not exist or you do not have access to it.")
        }
        Dialect::Gemini => {
            format!("models/{model} is not found for API version v1beta, or is not supported for generateContent.")
        }
        _ => format!("model: {model}"),
    };
    let mut error = ikigai_core::Error::new(ErrorKind::NotFound, message);
    if matches!(dialect, Dialect::OpenaiChat | Dialect::OpenaiResponses) {
        error.code = Some("model_not_found".to_owned());
    }
    dialect.encode_error(&error)
}

/// The context window of a model, if known: at the API's own provider, or else the largest at any provider.
pub(crate) fn window(dialect: Dialect, model: &str) -> Option<u64> {
    let own = match dialect {
        Dialect::Anthropic => "anthropic",
        Dialect::OpenaiChat | Dialect::OpenaiResponses => "openai",
        Dialect::Gemini => "google",
        _ => return None,
    };
    let anywhere =
        || Catalog::shared().models().filter(|facts| facts.id == model).filter_map(|facts| facts.context).max();
    let context = Catalog::shared().find(Some(own), model).map_or_else(anywhere, |facts| facts.context);
    context.map(u64::from)
}

/// The longest answer of one of Anthropic's models, in tokens.
pub(crate) fn max_output(model: &str) -> Option<u32> {
    Catalog::shared().find(Some("anthropic"), model)?.max_output
}

fn of_provider(provider: &'static str) -> impl Iterator<Item = &'static Facts> {
    Catalog::shared().models().filter(move |facts| facts.provider == provider)
}

/// The list of models, or one of them, in the form of the dialect.
pub(crate) fn answer(dialect: Dialect, id: Option<&str>, call: &Call) -> Answer {
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => openai(id),
        Dialect::Anthropic => anthropic(id, call),
        Dialect::Gemini => gemini(id),
        _ => unknown(dialect, id.unwrap_or_default()).into(),
    }
}

fn openai(id: Option<&str>) -> Answer {
    let entry = |id: &str| json!({"id": id, "object": "model", "created": 1_750_000_000, "owned_by": "openai"});
    match id {
        None => {
            let data: Vec<Value> = of_provider("openai").map(|facts| entry(&facts.id)).collect();
            Answer::json(&json!({"object": "list", "data": data}))
        }
        Some(id) if openai_has(id) => Answer::json(&entry(id)),
        Some(id) => unknown(Dialect::OpenaiChat, id).into(),
    }
}

fn anthropic(id: Option<&str>, call: &Call) -> Answer {
    let entry = |id: &str, facts: &Facts| {
        let day = facts.released.as_deref().unwrap_or("2025-01-01");
        json!({
            "type": "model", "id": id, "display_name": facts.name, "created_at": format!("{day}T00:00:00Z"),
            "max_input_tokens": facts.context, "max_tokens": facts.max_output
        })
    };
    match id {
        None => {
            let query = |name: &str| {
                let pairs = call.query.as_deref().unwrap_or_default().split('&');
                pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
            };
            let limit = query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20_usize).clamp(1, 1000);
            let mut all: Vec<&Facts> = of_provider("anthropic").collect();
            if let Some(after) = query("after_id")
                && let Some(place) = all.iter().position(|facts| facts.id == after)
            {
                all.drain(..=place);
            }
            let has_more = all.len() > limit;
            all.truncate(limit);
            let data: Vec<Value> = all.iter().map(|facts| entry(&facts.id, facts)).collect();
            let id_of = |facts: Option<&&Facts>| facts.map(|facts| facts.id.to_string());
            let (first, last) = (id_of(all.first()), id_of(all.last()));
            Answer::json(&json!({"data": data, "has_more": has_more, "first_id": first, "last_id": last}))
        }
        Some(id) => match Catalog::shared().find(Some("anthropic"), id) {
            Some(facts) => Answer::json(&entry(id, facts)),
            None => unknown(Dialect::Anthropic, id).into(),
        },
    }
}

fn gemini(id: Option<&str>) -> Answer {
    let entry = |id: &str, facts: &Facts| {
        json!({
            "name": format!("models/{id}"), "baseModelId": id, "version": "001", "displayName": facts.name,
            "inputTokenLimit": facts.context, "outputTokenLimit": facts.max_output, "thinking": facts.thinking.unwrap_or(false),
            "supportedGenerationMethods": ["generateContent", "countTokens"]
        })
    };
    match id {
        None => {
            let models: Vec<Value> = of_provider("google").map(|facts| entry(&facts.id, facts)).collect();
            Answer::json(&json!({"models": models}))
        }
        Some(id) => match Catalog::shared().find(Some("google"), id) {
            Some(facts) => Answer::json(&entry(id, facts)),
            None => unknown(Dialect::Gemini, id).into(),
        },
    }
}
