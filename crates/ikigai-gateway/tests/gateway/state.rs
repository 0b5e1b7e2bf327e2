//! Reasoning state over several tool turns, for clients that keep it and for those that cannot.

use ikigai::{Block, Dialect, Message, Request, Role, tool_result};
use ikigai_core::Limits;
use ikigai_core::wire::Incoming;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::answers::read;
use crate::support::{House, to};

/// Two turns with a tool, and thinking before each call, as a client of the dialect writes them.
fn request(dialect: Dialect, model: &str) -> (String, Value) {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]});
    let prompt = "Use the add tool to add 17 and 25, then use the add tool again to add 100 to the result.";
    match dialect.as_str() {
        "anthropic" => (
            "/v1/messages".to_owned(),
            json!({"model": model, "max_tokens": 16000, "thinking": {"type": "enabled", "budget_tokens": 2000},
                   "tools": [{"name": "add", "description": "Adds.", "input_schema": parameters}],
                   "messages": [{"role": "user", "content": prompt}]}),
        ),
        "openai-chat" => (
            "/v1/chat/completions".to_owned(),
            json!({"model": model, "reasoning_effort": "medium",
                   "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": parameters}}],
                   "messages": [{"role": "user", "content": prompt}]}),
        ),
        "openai-responses" => (
            "/v1/responses".to_owned(),
            json!({"model": model, "store": false, "include": ["reasoning.encrypted_content"],
                   "reasoning": {"effort": "medium", "summary": "auto"},
                   "tools": [{"type": "function", "name": "add", "description": "Adds.", "parameters": parameters, "strict": false}],
                   "input": [{"role": "user", "content": prompt}]}),
        ),
        _ => (
            format!("/v1beta/models/{model}:generateContent"),
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true, "thinkingBudget": 2000}},
                   "tools": [{"functionDeclarations": [{"name": "add", "description": "Adds.", "parameters": parameters}]}],
                   "contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
        ),
    }
}

/// Whether the client sends back everything it got, or only what its API has a place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Whole,
    /// Like the many programs that keep only text and calls.
    Forgetful,
}

async fn talk(house: &House, dialect: Dialect, provider: Dialect, client: Client, streams: bool) -> usize {
    let (mut path, mut body) = request(dialect, &to(provider));
    if streams {
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse");
        if body.get("model").is_some() {
            body["stream"] = true.into();
        }
    }
    let (mut turns, mut last) = (0, String::new());
    loop {
        let answer = house.post(&path, &body).await;
        let case = format!("{dialect} to {provider}, {client:?}, streams: {streams}, turn {turns}");
        let mut response = read(dialect, &answer, streams).unwrap_or_else(|error| panic!("{case}: {error}"));
        let calls: Vec<_> = response.content.iter().filter_map(Block::as_tool_call).cloned().collect();
        if calls.is_empty() {
            assert!(response.text().contains(&last), "{case}: {last} is not in {}", response.text());
            return turns;
        }
        turns += 1;
        assert!(turns < 6, "{case}: it goes on for ever");
        if client == Client::Forgetful {
            response.content.retain(|block| !matches!(block, Block::Thinking(_)));
            response.provider_data = Default::default();
            for block in response.content.iter_mut() {
                if let Block::ToolCall(call) = block {
                    call.provider_data = Default::default();
                }
            }
        }
        // The client's own library writes back what it was given.
        let text = body.to_string();
        let (mut conversation, _): (Request, _) =
            dialect.decode_request(Incoming::new(text.as_bytes()).at(&path), &Limits::server()).unwrap();
        let mut message = Message::new(Role::Assistant, response.content.clone());
        message.provider_data = response.provider_data.clone();
        conversation.messages.push(message);
        for call in &calls {
            let number = |name: &str| call.arguments.object()[name].as_f64().unwrap_or_default();
            last = (number("a") + number("b")).to_string();
            conversation.messages.push(tool_result(&call.id, last.as_str()));
        }
        let registry = ikigai_core::provider::Registry::shared();
        let route = registry.route_of_dialect(dialect, &conversation.model);
        let wire = dialect.encode_request(&conversation, &route.target(), &Limits::server()).unwrap();
        body = serde_json::from_slice(&wire.body).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn state_comes_back_to_its_issuer_through_clients_of_every_dialect() {
    let house = House::new("").await;
    for client in Dialect::ALL {
        for provider in Dialect::ALL {
            for streams in [false, true] {
                let turns = talk(&house, client, provider, Client::Whole, streams).await;
                assert_eq!(turns, 2, "{client} to {provider}, streams: {streams}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_client_that_keeps_no_thinking_still_works_with_models_that_want_it_back() {
    let house = House::new("").await;
    let chat = Dialect::ALL[1];
    for provider in Dialect::ALL {
        for streams in [false, true] {
            assert_eq!(
                talk(&house, chat, provider, Client::Forgetful, streams).await,
                2,
                "{provider}, streams: {streams}"
            );
            let last = house.sim.requests().pop().unwrap().body.to_string();
            let expected = match provider.as_str() {
                "anthropic" => "\"signature\":",
                "openai-responses" => "\"encrypted_content\":",
                "gemini" => "\"thoughtSignature\":",
                _ => "",
            };
            assert!(last.contains(expected), "{provider}: {last}");
        }
    }
}
