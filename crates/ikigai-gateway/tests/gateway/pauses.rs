//! Turns that a provider pauses, and tools that it runs, for clients of every dialect.

use ikigai::{Block, Dialect, ErrorKind, FinishReason};
use ikigai_sim::Script;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::answers::read;
use crate::support::{Answer, House, KEY, question, to};

/// The dialect whose providers pause.
fn pausing() -> Dialect {
    Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == "anthropic").unwrap()
}

/// A question with a web search, as a client of the dialect asks it.
fn searching(dialect: Dialect, model: &str, text: &str, streams: bool) -> (String, Value) {
    let (path, mut body) = question(dialect, model, text, streams);
    body["tools"] = match dialect.as_str() {
        "anthropic" => json!([{"type": "web_search_20250305", "name": "web_search"}]),
        "openai-chat" => json!([{"type": "openrouter:web_search"}]),
        "openai-responses" => json!([{"type": "web_search"}]),
        _ => json!([{"googleSearch": {}}]),
    };
    (path, body)
}

async fn ask(house: &House, dialect: Dialect, text: &str, streams: bool) -> Answer {
    let (path, body) = searching(dialect, &to(pausing()), text, streams);
    house.post(&path, &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_is_gone_on_with_for_clients_that_know_of_none() {
    let house = House::new("").await;
    for client in Dialect::ALL.into_iter().filter(|client| *client != pausing()) {
        for streams in [false, true] {
            let case = format!("{client}, streams: {streams}");
            house.sim.reset();
            let answer = ask(&house, client, "search for fjords and pause 2 times", streams).await;
            let response = read(client, &answer, streams).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(house.sim.requests().len(), 3, "{case}");
            assert_eq!(response.finish_reason, FinishReason::Stop, "{case}");
            assert!(response.text().ends_with("The news reported on it, too."), "{case}: {}", response.text());
            assert!(!response.sources().is_empty(), "{case}");
            // Every request counts.
            let spent: u64 = house.sim.requests().len() as u64;
            let usage = response.usage.unwrap();
            assert!(usage.input_tokens > 3 * 10 && spent == 3, "{case}: {usage:?}");
            let searches = response.content.iter().filter(|block| matches!(block, Block::ProviderCall(_))).count();
            assert_eq!(searches, if client.carries_state() { 2 } else { 0 }, "{case}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counts_of_a_turn_in_parts_are_their_sum() {
    let script = r#"
        [[reply]]
        searches = [{ query = "Oslo" }]
        paused = true
        usage = { input_tokens = 100, output_tokens = 10 }

        [[reply]]
        text = "Found."
        searches = [{ query = "Oslo", results = [{ url = "https://a.example/", title = "A" }] }]
        citations = [{ text = "Found" }]
        usage = { input_tokens = 1000, output_tokens = 1 }
    "#;
    let house = House::new("").await;
    for client in Dialect::ALL.into_iter().filter(|client| *client != pausing()) {
        for streams in [false, true] {
            house.sim.reset();
            house.sim.expect(Script::from_toml(script, "s.toml").unwrap());
            let answer = ask(&house, client, "Hi", streams).await;
            let response = read(client, &answer, streams).unwrap();
            let usage = response.usage.clone().unwrap();
            let counts = (usage.input_tokens, usage.completion_tokens());
            assert_eq!(counts, (1100, 11), "{client}, streams: {streams}");
            assert_eq!(response.text(), "Found.", "{client}, streams: {streams}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_providers_dialect_sees_the_pause() {
    let house = House::new("").await;
    for streams in [false, true] {
        house.sim.reset();
        let answer = ask(&house, pausing(), "search for fjords, pausing", streams).await;
        assert!(answer.text().contains("\"pause_turn\""), "{}", answer.text());
        assert_eq!(house.sim.requests().len(), 1);
        // The same if the answer is translated because it names the requested model.
        let rest = format!(
            "[models.mine]\ntargets = [{{ model = \"sim:claude-sonnet-4-5\", dialect = \"{}\" }}]\nanswer_model = \"asked\"\n",
            pausing()
        );
        let house = House::with(&rest).await;
        let (path, body) = searching(pausing(), "mine", "search for fjords, pausing", streams);
        let answer = house.post(&path, &body).await;
        assert!(answer.text().contains("\"pause_turn\"") && answer.text().contains("\"mine\""), "{}", answer.text());
        assert_eq!(house.sim.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_pauses_for_ever_ends_at_a_limit_that_is_told() {
    let house = House::new("").await;
    for client in Dialect::ALL.into_iter().filter(|client| *client != pausing()) {
        for streams in [false, true] {
            house.sim.reset();
            let answer = ask(&house, client, "search for fjords and pause 11 times", streams).await;
            let response = read(client, &answer, streams).unwrap();
            let case = format!("{client}, streams: {streams}");
            assert_eq!((house.sim.requests().len(), response.finish_reason), (11, FinishReason::Length), "{case}");
            let told = answer.header("x-ikigai-losses").contains("the provider paused its turn more than 10 times");
            assert_eq!(told, !streams, "{case}: {:?}", answer.headers);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rest_that_does_not_come_is_an_error_behind_what_came() {
    let house = House::new("attempts = 1\n").await;
    for fault in ["status=500", "cut_before_headers", "cut_mid_event"] {
        for client in Dialect::ALL.into_iter().filter(|client| *client != pausing()) {
            for streams in [false, true] {
                let case = format!("{fault}, {client}, streams: {streams}");
                house.sim.reset();
                house.fault_at(2, fault);
                let script = r#"
                    [[reply]]
                    text = "Let me see."
                    searches = [{ query = "Oslo" }]
                    paused = true
                "#;
                house.sim.expect(Script::from_toml(script, "s.toml").unwrap());
                let answer = ask(&house, client, "Hi", streams).await;
                assert!(!answer.broken, "{case}");
                assert_eq!(answer.status == 200, streams, "{case}: {}", answer.text());
                let error = read(client, &answer, streams).unwrap_err();
                assert_ne!(error.kind, ErrorKind::Cancelled, "{case}");
                if streams {
                    assert!(answer.text().contains("Let me see."), "{case}: {}", answer.text());
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_cannot_be_carried_is_a_loss_and_an_error_in_strict_mode() {
    let house = House::new("").await;
    let chat = Dialect::ALL[1];
    for client in Dialect::ALL.into_iter().filter(|client| *client != chat) {
        let (path, body) = searching(client, &to(chat), "search for fjords", false);
        let answer = house.post(&path, &body).await;
        let losses = answer.header("x-ikigai-losses");
        assert!(losses.contains("web_search at tools[0]: this API has no such tool"), "{client}: {losses}");
        // And the answer does not pretend to have searched.
        let response = read(client, &answer, false).unwrap();
        assert_eq!((response.text().starts_with("You said"), response.sources().len()), (true, 0), "{client}");
        let before = house.sim.requests().len();
        let bearer = format!("Bearer {KEY}");
        let strict = [("authorization", bearer.as_str()), ("x-ikigai-strict", "true")];
        let answer = house.send("POST", &path, &strict, body.to_string()).await;
        assert_eq!((answer.status, house.sim.requests().len()), (400, before), "{client}");
        assert!(answer.text().contains("web_search"), "{client}: {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_search_left_goes_back_to_the_provider_that_made_it() {
    let house = House::new("").await;
    for client in Dialect::ALL {
        for provider in Dialect::ALL.into_iter().filter(|provider| provider.as_str() != "openai-chat") {
            for streams in [false, true] {
                let case = format!("{client} to {provider}, streams: {streams}");
                house.sim.reset();
                let (path, mut body) = searching(client, &to(provider), "search for fjords", streams);
                let answer = house.post(&path, &body).await;
                let response = read(client, &answer, streams).unwrap_or_else(|error| panic!("{case}: {error}"));
                let wire = match (streams, client.as_str()) {
                    (false, _) => answer.json(),
                    // The official clients join all parts.
                    (true, "gemini") => {
                        let text = answer.text();
                        let frames = text.lines().filter_map(|line| line.strip_prefix("data: "));
                        let frames = frames.map(|frame| serde_json::from_str::<Value>(frame).unwrap());
                        let parts = frames
                            .flat_map(|frame| frame["candidates"][0]["content"]["parts"].as_array().cloned())
                            .flatten();
                        json!({"candidates": [{"content": {"role": "model", "parts": parts.collect::<Vec<_>>()}}]})
                    }
                    (true, _) => {
                        serde_json::from_slice(&client.encode_response(&response, &Default::default()).body).unwrap()
                    }
                };
                let (list, said, next) = match client.as_str() {
                    "anthropic" => (
                        "messages",
                        vec![json!({"role": "assistant", "content": wire["content"]})],
                        json!({"role": "user", "content": "And?"}),
                    ),
                    "openai-chat" => (
                        "messages",
                        vec![wire["choices"][0]["message"].clone()],
                        json!({"role": "user", "content": "And?"}),
                    ),
                    "openai-responses" => {
                        body["input"] = json!([{"role": "user", "content": "search for fjords"}]);
                        let items = wire["output"].as_array().unwrap().clone();
                        ("input", items, json!({"role": "user", "content": "And?"}))
                    }
                    _ => (
                        "contents",
                        vec![wire["candidates"][0]["content"].clone()],
                        json!({"role": "user", "parts": [{"text": "And?"}]}),
                    ),
                };
                let history = body[list].as_array_mut().unwrap();
                history.extend(said);
                history.push(next);
                let answer = house.post(&path, &body).await;
                let response = read(client, &answer, streams).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(response.text(), "You said: “And?” (1 word).", "{case}");
                let sent = house.sim.requests().pop().unwrap().body.to_string();
                let expected = match provider.as_str() {
                    "anthropic" => "\"encrypted_content\":",
                    "openai-responses" => "\"web_search_call\"",
                    _ => "on it, too",
                };
                // Clients of Responses have no place for other dialects' seals.
                let has_place =
                    client == provider || client.as_str() != "openai-responses" || provider.as_str() == "gemini";
                assert_eq!(sent.contains(expected), has_place, "{case}: {sent}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_beside_a_tool_of_the_client_goes_on_for_clients_of_every_dialect() {
    let house = House::new("").await;
    let prompt = "Call get_time. Then search for fjords";
    for client in Dialect::ALL {
        house.sim.reset();
        let (path, mut body) = searching(client, &to(pausing()), prompt, false);
        let schema = json!({"type": "object", "properties": {}});
        let function = match client.as_str() {
            "anthropic" => json!({"name": "get_time", "input_schema": schema}),
            "openai-chat" => json!({"type": "function", "function": {"name": "get_time", "parameters": schema}}),
            "openai-responses" => {
                json!({"type": "function", "name": "get_time", "parameters": schema, "strict": false})
            }
            _ => json!({"functionDeclarations": [{"name": "get_time", "parameters": schema}]}),
        };
        body["tools"].as_array_mut().unwrap().push(function);
        let first = house.post(&path, &body).await;
        let response = read(client, &first, false).unwrap_or_else(|error| panic!("{client}: {error}"));
        assert_eq!(response.finish_reason, FinishReason::ToolUse, "{client}");
        let id = response.tool_calls().next().unwrap().id.clone();
        let wire = first.json();
        let (list, said) = match client.as_str() {
            "anthropic" => {
                let result = json!({"type": "tool_result", "tool_use_id": id, "content": "noon"});
                let said = json!({"role": "assistant", "content": wire["content"]});
                ("messages", vec![said, json!({"role": "user", "content": [result]})])
            }
            "openai-chat" => {
                let result = json!({"role": "tool", "tool_call_id": id, "content": "noon"});
                ("messages", vec![wire["choices"][0]["message"].clone(), result])
            }
            "openai-responses" => {
                body["input"] = json!([{"role": "user", "content": prompt}]);
                let mut items = wire["output"].as_array().unwrap().clone();
                items.push(json!({"type": "function_call_output", "call_id": id, "output": "noon"}));
                ("input", items)
            }
            _ => {
                let result = json!({"id": id, "name": "get_time", "response": {"output": "noon"}});
                let said = wire["candidates"][0]["content"].clone();
                ("contents", vec![said, json!({"role": "user", "parts": [{"functionResponse": result}]})])
            }
        };
        body[list].as_array_mut().unwrap().extend(said);
        let second = house.post(&path, &body).await;
        let response = read(client, &second, false).unwrap_or_else(|error| panic!("{client}: {error}"));
        assert!(response.text().starts_with("get_time answered: noon. "), "{client}: {}", response.text());
        assert!(response.text().ends_with("The news reported on it, too."), "{client}: {}", response.text());
    }
}
