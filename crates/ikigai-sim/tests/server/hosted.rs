//! Tools that the provider runs, and the sources of answers.

use ikigai_core::wire::Ids;
use ikigai_core::{Block, Dialect, FinishReason, Limits, ProviderTool, Response};
use ikigai_sim::{Script, Sim};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Got, ask, send};

/// A question to a model that may use these provider-run tools.
fn with_tools(dialect: Dialect, text: &str, stream: bool) -> (String, Value) {
    let (path, mut body) = ask(dialect, text, stream);
    match dialect {
        Dialect::Anthropic => {
            body["tools"] = json!([
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
                {"type": "web_fetch_20250910", "name": "web_fetch", "citations": {"enabled": true}},
                {"type": "code_execution_20250825", "name": "code_execution"},
            ]);
        }
        Dialect::OpenaiChat => {
            body["model"] = json!("gpt-4o-search-preview");
            body["web_search_options"] = json!({});
        }
        Dialect::OpenaiResponses => {
            body["include"] =
                json!(["web_search_call.action.sources", "code_interpreter_call.outputs", "file_search_call.results"]);
            body["tools"] = json!([
                {"type": "web_search"},
                {"type": "code_interpreter", "container": {"type": "auto"}},
                {"type": "file_search", "vector_store_ids": ["vs_1"]},
            ]);
        }
        _ => {
            body["tools"] = json!([
                {"googleSearch": {}}, {"urlContext": {}}, {"codeExecution": {}},
                {"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/sim"]}},
            ]);
        }
    }
    (path, body)
}

fn whole(dialect: Dialect, got: &Got) -> Response {
    let text = String::from_utf8_lossy(&got.body);
    assert_eq!(got.status(), 200, "{dialect}: {text}");
    dialect.decode_response(&got.body, &mut Ids::default(), &Limits::client()).unwrap()
}

/// The answer in one piece and as a stream, which must be the same.
fn answers(sim: &Sim, dialect: Dialect, make: impl Fn(bool) -> (String, Value)) -> Response {
    let make = |stream: bool| {
        let (path, mut body) = make(stream);
        if stream && dialect == Dialect::OpenaiChat {
            body["stream_options"] = json!({"include_usage": true});
        }
        (path, body)
    };
    let (path, body) = make(false);
    let one = whole(dialect, &send(sim, &path, "", &body));
    let (path, body) = make(true);
    let streamed = send(sim, &path, "", &body).response(dialect);
    assert_eq!(streamed.error, None);
    let plain = |response: &Response| {
        let blocks: Vec<String> = response
            .content
            .iter()
            // Gemini signs a streamed text in a separate part.
            .filter(|block| block.as_text() != Some(""))
            .map(|block| match block {
                Block::Text(text) => format!("text {} {}", text.text, serde_json::to_string(&cited(text)).unwrap()),
                Block::ProviderCall(call) => format!("call {} {}", call.tool, call.arguments.object().len()),
                Block::ProviderResult(result) => {
                    format!("result {} {} {:?}", result.tool, result.sources.len(), result.error)
                }
                other => format!("{:?}", other.kind()),
            })
            .collect();
        (
            blocks,
            response.finish_reason,
            response.usage.as_ref().map(|usage| (usage.total_tokens(), usage.provider_calls.clone())),
        )
    };
    assert_eq!(plain(&one), plain(&streamed), "{dialect}");
    one
}

fn cited(text: &ikigai_core::Text) -> Vec<(String, String)> {
    let pair = |citation: &ikigai_core::Citation| {
        (citation.passage(&text.text).to_owned(), citation.source.as_url().unwrap_or_default().to_owned())
    };
    text.citations.iter().map(pair).collect()
}

fn tools(response: &Response) -> Vec<(ProviderTool, bool)> {
    response
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ProviderCall(call) => Some((call.tool, true)),
            Block::ProviderResult(result) => Some((result.tool, false)),
            _ => None,
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_gives_a_call_its_result_and_a_text_that_cites_it() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        let response =
            answers(&sim, dialect, |stream| with_tools(dialect, "Please search for “the fjords of Norway”.", stream));
        assert_eq!(response.finish_reason, FinishReason::Stop, "{dialect}");
        let passages: Vec<&str> = response.citations().map(|(passage, _)| passage).collect();
        let links =
            |passage: &&str| passage.starts_with("([") && passage.contains("https://") && passage.ends_with("))");
        match dialect {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => {
                assert!(passages.len() == 3 && passages.iter().all(links), "{dialect}: {passages:?}");
            }
            _ => assert_eq!(
                passages,
                [
                    "The encyclopedia describes the fjords of Norway in detail – with figures",
                    "The news reported on it, too",
                    "The news reported on it, too",
                ],
                "{dialect}"
            ),
        }
        let sources = response.sources();
        assert!(sources.len() >= 2, "{dialect}: {sources:?}");
        let pair = [(ProviderTool::WebSearch, true), (ProviderTool::WebSearch, false)];
        let expected: &[_] = if matches!(dialect, Dialect::OpenaiChat | Dialect::Gemini) { &[] } else { &pair };
        assert_eq!(tools(&response), expected, "{dialect}");
        let calls = response.usage.unwrap().provider_calls.get(&ProviderTool::WebSearch).copied();
        let counted = matches!(dialect, Dialect::Anthropic | Dialect::OpenaiResponses);
        assert_eq!(calls, counted.then_some(1), "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_pretends_to_have_searched_without_the_tool() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        for prompt in
            ["search for fjords", "fetch https://example.org/", "run `print(1+1)`", "Tell me about the fjords"]
        {
            let response = answers(&sim, dialect, |stream| match prompt.starts_with("Tell") {
                // With the tool, but without asking for it.
                true => with_tools(dialect, prompt, stream),
                false => ask(dialect, prompt, stream),
            });
            assert_eq!((tools(&response), response.sources()), (vec![], vec![]), "{dialect} {prompt}");
            assert!(response.text().starts_with("You said: ") || response.text() == "(1+1) = 2", "{}", response.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_fetched_code_is_run_and_files_are_searched_where_the_api_has_that() {
    use ProviderTool::{CodeExecution, FileSearch, WebFetch};
    let sim = Sim::start().await.unwrap();
    for (prompt, tool, says, dialects) in [
        (
            "Fetch https://example.org/a.html",
            WebFetch,
            "The page says: This is the text of https://example.org/a.html",
            &[Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini][..],
        ),
        (
            "Run `print(6*7)`",
            CodeExecution,
            "The code printed: 42",
            &[Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini],
        ),
        (
            "Search the files for the budget",
            FileSearch,
            "In the files: “the budget” is described.",
            &[Dialect::OpenaiResponses, Dialect::Gemini],
        ),
    ] {
        for &dialect in dialects {
            let response = answers(&sim, dialect, |stream| with_tools(dialect, prompt, stream));
            assert!(response.text().starts_with(says), "{dialect}: {}", response.text());
            let shown = dialect != Dialect::Gemini || tool == CodeExecution;
            let expected: &[_] = if shown { &[(tool, true), (tool, false)] } else { &[] };
            assert_eq!(tools(&response), expected, "{dialect} {prompt}");
            let ran = response.content.iter().find_map(|block| match block {
                Block::ProviderResult(result) if tool == CodeExecution => Some(result.content.clone()),
                _ => None,
            });
            assert_eq!(ran, (tool == CodeExecution).then(|| vec![Block::text("42\n")]), "{dialect}");
            let cites = response.citations().count();
            assert_eq!(cites, usize::from(tool != CodeExecution), "{dialect} {prompt}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_fail_find_nothing_and_come_to_their_limit() {
    let sim = Sim::start().await.unwrap();
    let codes = |response: &Response| -> Vec<String> {
        let results = response.content.iter().filter_map(|block| match block {
            Block::ProviderResult(result) => Some(result),
            _ => None,
        });
        results
            .map(|result| match &result.error {
                Some(error) => error.code.clone(),
                None => format!("{} sources", result.sources.len()),
            })
            .collect()
    };
    for (prompt, anthropic, responses) in [
        ("search for nothing", &["0 sources"][..], &["0 sources"][..]),
        ("search for error unavailable", &["unavailable"], &["failed"]),
        ("search for error one_of_tomorrow", &["one_of_tomorrow"], &["failed"]),
        (
            "search for a, then search for b, then search for c",
            &["3 sources", "3 sources", "max_uses_exceeded"],
            &["3 sources", "3 sources", "3 sources"],
        ),
        ("fetch https://nowhere.invalid/", &["url_not_accessible"], &["failed"]),
    ] {
        for (dialect, expected) in [(Dialect::Anthropic, anthropic), (Dialect::OpenaiResponses, responses)] {
            let response = answers(&sim, dialect, |stream| with_tools(dialect, prompt, stream));
            assert_eq!(codes(&response), expected, "{dialect} {prompt}");
        }
    }
}

/// The types of a stream's events and of their deltas, without repetitions in a row.
fn kinds(got: &Got) -> Vec<String> {
    let text = String::from_utf8_lossy(&got.body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut kinds: Vec<String> = events
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .map(|event| {
            let kind = event["type"].as_str().unwrap_or_default();
            event["delta"]["type"].as_str().unwrap_or(kind).to_owned()
        })
        .collect();
    kinds.dedup();
    kinds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_come_in_the_order_of_each_provider() {
    let sim = Sim::start().await.unwrap();
    let (path, body) = with_tools(Dialect::Anthropic, "search for fjords", true);
    let (start, stop) = ("content_block_start", "content_block_stop");
    assert_eq!(
        kinds(&send(&sim, &path, "", &body)),
        [
            "message_start",
            start,
            "input_json_delta",
            stop,
            start,
            stop,
            start,
            "text_delta",
            stop,
            start,
            "citations_delta",
            "text_delta",
            stop,
            start,
            "text_delta",
            stop,
            start,
            "citations_delta",
            "text_delta",
            stop,
            start,
            "text_delta",
            stop,
            "message_delta",
            "message_stop",
        ]
    );
    let (path, body) = with_tools(Dialect::OpenaiResponses, "search for fjords", true);
    let (text, link) = ("response.output_text.delta", "response.output_text.annotation.added");
    assert_eq!(
        kinds(&send(&sim, &path, "", &body)),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.web_search_call.in_progress",
            "response.web_search_call.searching",
            "response.web_search_call.completed",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            text,
            link,
            text,
            link,
            text,
            link,
            text,
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let (path, body) = with_tools(Dialect::OpenaiResponses, "run `print(1)`", true);
    let kinds = kinds(&send(&sim, &path, "", &body));
    assert_eq!(
        kinds[2..8],
        [
            "response.output_item.added",
            "response.code_interpreter_call.in_progress",
            "response.code_interpreter_call_code.delta",
            "response.code_interpreter_call_code.done",
            "response.code_interpreter_call.interpreting",
            "response.code_interpreter_call.completed",
        ]
    );
    // A copy of OpenAI's API: one source after the other, before the text, and not tied to a place in it.
    let (path, mut body) = ask(Dialect::OpenaiChat, "search for fjords", true);
    body["model"] = json!("openai/gpt-5-mini");
    body["tools"] = json!([{"type": "openrouter:web_search"}]);
    let got = send(&sim, &path, "", &body);
    let text = String::from_utf8_lossy(&got.body).into_owned();
    assert_eq!(text.matches("\"annotations\"").count(), 3);
    assert!(text.rfind("\"annotations\"") < text.find("Here"), "{text}");
    assert_eq!(got.response(Dialect::OpenaiChat).sources.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_of_gemini_are_bytes_and_its_sources_redirects() {
    let sim = Sim::start().await.unwrap();
    let (path, body) = with_tools(Dialect::Gemini, "search for “Ærø”", false);
    let answer = send(&sim, &path, "", &body).json();
    let candidate = &answer["candidates"][0];
    let said = candidate["content"]["parts"][0]["text"].as_str().unwrap();
    let grounding = &candidate["groundingMetadata"];
    assert_eq!(grounding["webSearchQueries"], json!(["Ærø"]));
    let supports = grounding["groundingSupports"].as_array().unwrap();
    assert_eq!(supports.len(), 2);
    for support in supports {
        let segment = &support["segment"];
        let at = |name: &str| usize::try_from(segment[name].as_u64().unwrap()).unwrap();
        assert_eq!(said.get(at("startIndex")..at("endIndex")), segment["text"].as_str());
    }
    let chunk = &grounding["groundingChunks"][0]["web"];
    assert!(chunk["uri"].as_str().unwrap().contains("/grounding-api-redirect/"), "{chunk}");
    assert_eq!(chunk["title"], "encyclopedia.example");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_pauses_as_often_as_it_is_told_to_and_goes_on_where_it_was() {
    let sim = Sim::start().await.unwrap();
    for stream in [false, true] {
        let (path, mut body) = with_tools(Dialect::Anthropic, "search for fjords and pause 2 times", false);
        let mut reasons = Vec::new();
        let mut kinds = Vec::new();
        for _ in 0..3 {
            body["stream"] = json!(stream);
            let got = send(&sim, &path, "", &body);
            let response = if stream { got.response(Dialect::Anthropic) } else { whole(Dialect::Anthropic, &got) };
            let message = Dialect::Anthropic.encode_response(&response, &Default::default()).body;
            let message: Value = serde_json::from_slice(&message).unwrap();
            reasons.push(message["stop_reason"].clone());
            kinds.push(
                tools(&response).into_iter().map(|(_, is_call)| if is_call { 'c' } else { 'r' }).collect::<String>(),
            );
            let content = message["content"].clone();
            body["messages"].as_array_mut().unwrap().push(json!({"role": "assistant", "content": content}));
        }
        assert_eq!(reasons, ["pause_turn", "pause_turn", "end_turn"]);
        assert_eq!(kinds, ["c", "rc", "r"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_beside_a_tool_of_the_client_comes_back_with_its_result() {
    let sim = Sim::start().await.unwrap();
    let (path, mut body) = with_tools(Dialect::Anthropic, "Call get_time. Then search for fjords", false);
    body["tools"].as_array_mut().unwrap().push(json!({"name": "get_time", "input_schema": {"type": "object"}}));
    let first = send(&sim, &path, "", &body).json();
    let types = |message: &Value| -> Vec<String> {
        message["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (types(&first), &first["stop_reason"]),
        (vec!["server_tool_use".into(), "tool_use".into()], &json!("tool_use"))
    );
    let id = first["content"][1]["id"].clone();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": first["content"]}));
    messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "noon"}]}));
    let second = send(&sim, &path, "", &body).json();
    assert_eq!(types(&second)[..2], ["web_search_tool_result", "text"]);
    assert_eq!(second["content"][0]["tool_use_id"], first["content"][0]["id"]);
    assert_eq!(second["content"][1]["text"], "get_time answered: noon. ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_hold_searches_and_citations() {
    let toml = r#"
        [[reply]]
        times = 0
        text = "Oslo has 717 710 people – they say."
        searches = [
            { query = "Oslo", results = [{ url = "https://ssb.example/", title = "Statistics", text = "Oslo: 717 710", date = "1 day ago" }] },
            { query = "more", error = "max_uses_exceeded" },
        ]
        citations = [{ text = "717 710 people" }, { text = "they say", result = 0 }]
    "#;
    for dialect in Dialect::ALL {
        let sim = Sim::start().await.unwrap();
        sim.expect(Script::from_toml(toml, "s.toml").unwrap());
        let response = answers(&sim, dialect, |stream| ask(dialect, "Hi", stream));
        let (links, claims) = (2, vec!["717 710 people", "they say"]);
        let passages: Vec<&str> = response.citations().map(|(passage, _)| passage).collect();
        match dialect {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => assert_eq!(passages.len(), links, "{dialect}"),
            _ => assert_eq!(passages, claims, "{dialect}"),
        }
    }
    let paused = r#"
        [[reply]]
        searches = [{ query = "Oslo" }]
        paused = true

        [[reply]]
        text = "Nothing."
        searches = [{ query = "Oslo", error = "unavailable" }]
    "#;
    let sim = Sim::start().await.unwrap();
    sim.expect(Script::from_toml(paused, "s.toml").unwrap());
    let (path, mut body) = with_tools(Dialect::Anthropic, "Hi", false);
    let first = send(&sim, &path, "", &body).json();
    assert_eq!(
        (&first["content"][0]["type"], &first["stop_reason"]),
        (&json!("server_tool_use"), &json!("pause_turn"))
    );
    body["messages"].as_array_mut().unwrap().push(json!({"role": "assistant", "content": first["content"]}));
    let second = send(&sim, &path, "", &body).json();
    assert_eq!(second["content"][0]["tool_use_id"], first["content"][0]["id"]);
    assert_eq!(second["content"][0]["content"]["error_code"], "unavailable");
    for (toml, says) in [
        (
            "text = \"a\"\nsearches = [{ results = [{}] }]\ncitations = [{ text = \"b\" }]",
            "citations[0].text: it is not in `text`",
        ),
        ("text = \"a\"\ncitations = [{ text = \"a\" }]", "citations[0].result: there are 0 results, counted from 0"),
    ] {
        let error = Script::from_toml(&format!("[[reply]]\n{toml}\n"), "s.toml").unwrap_err().to_string();
        assert!(error.starts_with(&format!("s.toml:1:1: reply[0].{says}")), "{error}");
    }
}

/// A way to change what is sent back, and how the refusal begins; empty if it is accepted.
type Change = (fn(&mut Value), &'static str);

/// Sends an answer back, changed in each of these ways, with another question.
fn sent_back(sim: &Sim, dialect: Dialect, first: (String, Value), changes: &[Change]) {
    let (path, body) = first;
    let answer = send(sim, &path, "", &body).json();
    let (history, content, question) = match dialect {
        Dialect::Anthropic => (
            "messages",
            json!([{"role": "assistant", "content": answer["content"]}]),
            json!({"role": "user", "content": "So?"}),
        ),
        Dialect::OpenaiResponses => ("input", answer["output"].clone(), json!({"role": "user", "content": "So?"})),
        _ => (
            "contents",
            json!([answer["candidates"][0]["content"]]),
            json!({"role": "user", "parts": [{"text": "So?"}]}),
        ),
    };
    for (place, (change, says)) in changes.iter().enumerate() {
        let (mut content, mut body) = (content.clone(), body.clone());
        change(&mut content);
        let mut messages = match &body[history] {
            Value::String(text) => vec![json!({"role": "user", "content": text})],
            list => list.as_array().unwrap().clone(),
        };
        messages.extend(content.as_array().unwrap().iter().cloned());
        messages.push(question.clone());
        body[history] = Value::Array(messages);
        let got = send(sim, &path, "", &body);
        let text = String::from_utf8_lossy(&got.body).into_owned();
        let message = got.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(got.status(), if says.is_empty() { 200 } else { 400 }, "{dialect} {place}: {text}");
        assert!(message.starts_with(says), "{dialect} {place}: {message}");
    }
}

fn nothing(_: &mut Value) {}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_search_left_comes_back_to_anthropic_as_it_was_or_is_refused() {
    let sim = Sim::start().await.unwrap();
    let sealed = "messages.1.content.1: Invalid `encrypted_content` in `web_search_tool_result` block";
    let changes: &[Change] = &[
        (nothing, ""),
        (|said| said[0]["content"][1]["content"][0]["encrypted_content"] = json!("AAAA"), sealed),
        (
            |said| {
                let seal = &mut said[0]["content"][1]["content"][0]["encrypted_content"];
                *seal = json!(seal.as_str().unwrap()[4..]);
            },
            sealed,
        ),
        (|said| said[0]["content"][1]["content"][0]["url"] = json!("https://elsewhere.example/"), sealed),
        (
            |said| {
                said[0]["content"][1]["content"][0].as_object_mut().unwrap().remove("encrypted_content");
            },
            "messages.1.content.1.web_search_tool_result.content.0.encrypted_content: Field required",
        ),
        (
            |said| said[0]["content"][3]["citations"][0]["encrypted_index"] = json!("AAAA"),
            "messages.1.content.3: Invalid `encrypted_index` in `web_search_result_location` block",
        ),
        (
            |said| {
                said[0]["content"].as_array_mut().unwrap().remove(0);
            },
            "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_",
        ),
        (
            |said| said[0]["content"].as_array_mut().unwrap().swap(0, 1),
            "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_",
        ),
        (
            |said| {
                said[0]["content"].as_array_mut().unwrap().remove(1);
            },
            "messages.1.content.0: `web_search` tool use with id `srvtoolu_",
        ),
        (
            |said| {
                let call = said[0]["content"][0].clone();
                said[0]["content"].as_array_mut().unwrap().push(call);
            },
            "messages.1.content.7: `server_tool_use` ids must be unique",
        ),
    ];
    sent_back(&sim, Dialect::Anthropic, with_tools(Dialect::Anthropic, "search for fjords", false), changes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_search_left_comes_back_to_the_others_as_it_was_or_is_refused() {
    let sim = Sim::start().await.unwrap();
    let changes: &[Change] = &[
        (nothing, ""),
        (
            |items| items[0]["id"] = json!("srvtoolu_1"),
            "Invalid 'input[1].id': 'srvtoolu_1'. Expected an ID that begins",
        ),
        (
            |items| {
                let item = items[0].clone();
                items.as_array_mut().unwrap().push(item);
            },
            "Duplicate item found with id ws_",
        ),
    ];
    let responses = Dialect::OpenaiResponses;
    sent_back(&sim, responses, with_tools(responses, "search for fjords", false), changes);
    let changes: &[Change] = &[
        (nothing, ""),
        (|contents| contents[0]["parts"][0]["thoughtSignature"] = json!("AAAA"), "Thought signature is not valid"),
        (
            |contents| contents[0]["parts"][1]["toolResponse"]["id"] = json!("other"),
            "Please ensure that a tool response",
        ),
        (
            |contents| {
                contents[0]["parts"][1].as_object_mut().unwrap().remove("thoughtSignature");
            },
            "Tool response is missing a thought_signature in toolResponse parts.",
        ),
    ];
    let mut body = with_tools(Dialect::Gemini, "search for fjords", false).1;
    body["toolConfig"] = json!({"includeServerSideToolInvocations": true});
    body["tools"].as_array_mut().unwrap().push(json!({"functionDeclarations": [{"name": "f"}]}));
    let path = "/v1beta/models/gemini-3-pro-preview:generateContent".to_owned();
    let answer = send(&sim, &path, "", &body).json();
    let parts = answer["candidates"][0]["content"]["parts"].as_array().unwrap();
    assert!(parts[0]["toolCall"].is_object() && parts[1]["toolResponse"].is_object(), "{answer}");
    sent_back(&sim, Dialect::Gemini, (path, body), changes);
}
