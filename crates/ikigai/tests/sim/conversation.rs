//! One conversation in every dialect, with thinking and tools, against the strict simulator.

use ikigai::{Callable, Role, Tool};
use ikigai_sim::Sim;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support;

fn weather() -> Callable {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = Tool::new("weather", "Tells the weather in a city.").parameters(schema);
    Callable::new(tool, |call| async move { format!("{}: 4 degrees", call.arguments["city"]) })
}

/// Collects the sealed state in a request, with the names of its fields.
fn seals(body: &Value, found: &mut Vec<(String, String)>) {
    match body {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("signature" | "encrypted_content" | "thoughtSignature" | "data", Value::String(seal)) => {
                        found.push((key.clone(), seal.clone()));
                    }
                    _ => seals(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| seals(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn sent(body: &Value, field: &str) -> Vec<String> {
    let mut found = Vec::new();
    seals(body, &mut found);
    found.into_iter().filter(|(name, _)| name == field).map(|(_, seal)| seal).collect()
}

#[tokio::test]
async fn eight_turns_through_every_dialect_lose_nothing_and_leak_nothing() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).build().unwrap();
    let model = client.model("anthropic:claude-sonnet-4-5/low").unwrap().system("Be exact.").tool(weather());
    let mut chat = model.chat();
    let turns = [
        ("anthropic:claude-sonnet-4-5/low", "Call weather with city=\"Oslo\".", "Oslo"),
        ("openai:gpt-5.4/high", "Call weather with city=\"Bergen\".", "Bergen"),
        ("google:gemini-2.5-flash/low", "Call weather with city=\"Rome\".", "Rome"),
        ("deepseek:deepseek-chat", "Call weather with city=\"Paris\".", "Paris"),
        ("anthropic:claude-sonnet-4-5/low", "Call weather with city=\"Lima\".", "Lima"),
        ("google:gemini-3-pro/high", "Call weather with city=\"Kyoto\".", "Kyoto"),
        ("openai:gpt-5.4/high", "My favourite number is 7.", ""),
        ("anthropic:claude-sonnet-4-5/low", "What is my favourite number?", "7"),
    ];
    for (place, (name, said, expected)) in turns.into_iter().enumerate() {
        // Every other turn is streamed.
        chat.switch(name).unwrap();
        let answer = if place % 2 == 0 {
            chat.say(said).await.unwrap()
        } else {
            chat.stream(said).await.unwrap().finish().await.unwrap()
        };
        assert!(answer.text().contains(expected), "turn {place} with {name}: {}", answer.text());
        let hard: Vec<String> = answer
            .warnings()
            .filter(|loss| loss.what == "messages" || loss.what == "tool_call")
            .map(ToString::to_string)
            .collect();
        assert_eq!(hard, Vec::<String>::new(), "turn {place}");
    }
    let roles: Vec<Role> = chat.history().iter().map(|message| message.role).collect();
    assert_eq!(roles.len(), 8 * 2 + 6 * 2, "six turns with a call and its result");

    // The state that each provider left in its answers.
    let provider_of = |message: &ikigai::Message| message.provider.clone();
    let sealed_by = |provider: &str| {
        let mut found = Vec::new();
        for message in chat.history().iter().filter(|message| provider_of(message).as_deref() == Some(provider)) {
            opaque(&serde_json::to_value(message).unwrap()["content"], &mut found);
        }
        found
    };
    let requests = sim.requests();
    assert_eq!(requests.len(), 14);
    for (provider, path, fields) in [
        ("anthropic", "/v1/messages", &["signature", "data"][..]),
        ("openai", "/v1/responses", &["encrypted_content"][..]),
        ("google", "/v1beta/models", &["thoughtSignature"][..]),
    ] {
        let own = sealed_by(provider);
        for request in &requests {
            let text = request.body.to_string();
            let mine = request.path.starts_with(path);
            for field in fields {
                for seal in sent(&request.body, field) {
                    assert!(mine || !own.contains(&seal), "{} has {provider}'s {field}", request.path);
                    assert!(!mine || own.contains(&seal), "{} has a {field} that {provider} never gave", request.path);
                }
            }
            let leaked = own.iter().filter(|seal| seal.len() > 40 && text.contains(seal.as_str())).count();
            assert!(mine || leaked == 0, "{} has state of {provider} in it", request.path);
        }
    }
    // The state came back: the last request to each provider contains what that provider had sealed before.
    let last = requests.iter().rev().find(|request| request.path.starts_with("/v1/messages")).unwrap();
    assert!(sent(&last.body, "signature").len() >= 2, "the thinking of earlier turns came back: {}", last.body);
    let last = requests.iter().rev().find(|request| request.path.starts_with("/v1/responses")).unwrap();
    assert!(!sent(&last.body, "encrypted_content").is_empty(), "{}", last.body);
    let last = requests.iter().rev().find(|request| request.path.starts_with("/v1beta")).unwrap();
    assert!(!sent(&last.body, "thoughtSignature").is_empty(), "{}", last.body);
    drop((client, chat, model));
    support::until_quiet(&sim).await;
}

/// Collects every string that a dialect stored for itself, wherever it is.
fn opaque(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| opaque(item, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "provider_data" || key == "data" { strings(value, found) } else { opaque(value, found) }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Collects every string in a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
