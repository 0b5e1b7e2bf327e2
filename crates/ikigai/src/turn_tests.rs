//! Whole turns: what is sent, what is retried, what comes back.

use std::time::Duration;

use ikigai_core::{Dialect, ErrorKind, Level, Prompt, system, user};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::testing::{Reply, Scripted, TestClock, says};
use crate::transport::Failure;
use crate::{Client, Error, Retry};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";

fn overloaded() -> Reply {
    Reply::new(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#)
}

fn hello() -> Reply {
    Reply::whole(Dialect::Anthropic, &says("Hello."))
}

#[tokio::test]
async fn a_question_goes_out_once_and_its_answer_has_usage_and_cost() {
    let scripted =
        Scripted::new([hello().header("request-id", "req_7").header("anthropic-ratelimit-requests-remaining", "9")]);
    let model = scripted.client().model("anthropic:claude-haiku-4-5/low").unwrap().system("Be brief.");
    let answer = model.ask("Hi").await.unwrap();
    assert_eq!((answer.to_string().as_str(), answer.text().as_str()), ("Hello.", "Hello."));
    assert_eq!(answer.usage().unwrap().total_tokens(), 15);
    assert_eq!(answer.cost().unwrap().total().to_string(), "$0.000035");
    assert_eq!((answer.provider(), answer.request_id()), ("anthropic", Some("req_7")));
    assert_eq!(answer.limits().requests.as_ref().unwrap().remaining, Some(9));
    assert_eq!(answer.messages().len(), 1);
    let message = &answer.messages()[0];
    assert_eq!((message.provider.as_deref(), message.thinking), (Some("anthropic"), Some(Level::Low)));

    let request = scripted.requests().remove(0);
    assert_eq!(request.uri().to_string(), "https://api.anthropic.com/v1/messages");
    assert_eq!(request.headers()["x-api-key"], "sk-secret-of-ANTHROPIC_API_KEY");
    assert_eq!(request.headers()["content-type"], "application/json");
    let body = scripted.body(0);
    assert_eq!(body["messages"], json!([{"role": "user", "content": "Hi"}]));
    assert_eq!((&body["system"], &body["thinking"]["type"]), (&json!("Be brief."), &json!("enabled")));
    assert_eq!((scripted.requests().len(), scripted.open()), (1, 0));
}

#[tokio::test]
async fn each_dialect_goes_to_its_own_address_with_its_own_key() {
    for (name, dialect, address, header) in [
        ("openai:gpt-5.4", Dialect::OpenaiResponses, "https://api.openai.com/v1/responses", "authorization"),
        (
            "deepseek:deepseek-chat",
            Dialect::OpenaiChat,
            "https://api.deepseek.com/v1/chat/completions",
            "authorization",
        ),
        (
            "google:gemini-2.5-flash",
            Dialect::Gemini,
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
            "x-goog-api-key",
        ),
    ] {
        let scripted = Scripted::new([Reply::whole(dialect, &says("Hello."))]);
        let answer = scripted.client().ask(name, "Hi").await.unwrap();
        assert_eq!(answer.text(), "Hello.", "{name}");
        let request = scripted.requests().remove(0);
        assert_eq!(request.uri().to_string(), address);
        assert!(request.headers().contains_key(header), "{name}");
    }
}

#[tokio::test]
async fn what_is_not_valid_is_refused_before_anything_is_sent() {
    let scripted = Scripted::new([]);
    let model = scripted.client().model(CLAUDE).unwrap();
    let context = Prompt::new([system("Be brief"), system("Be kind"), user("Hi")]);
    let error = model.ask(context).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(error.to_string(), "messages[1]: this is a second system message; join them into one");
    let error = model.clone().temperature(7.0).ask("Hi").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    let error = model.stream(Prompt::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(scripted.requests().is_empty());
}

#[tokio::test]
async fn a_conversation_with_its_own_system_prompt_goes_before_the_models() {
    let scripted = Scripted::new([hello()]);
    let model = scripted.client().model(CLAUDE).unwrap().system("The model's");
    model.ask(Prompt::new([system("The conversation's"), user("Hi")])).await.unwrap();
    assert_eq!(scripted.body(0)["system"], "The conversation's");
}

#[tokio::test]
async fn without_a_key_nothing_is_sent_and_the_way_out_is_told() {
    let scripted = Scripted::new([]);
    let error = scripted.client().ask("mistral:mistral-large-latest", "Hi").await.unwrap_err();
    assert_eq!((error.kind(), error.provider()), (ErrorKind::Auth, Some("mistral")));
    assert_eq!(
        error.to_string(),
        "there is no key for Mistral: set MISTRAL_API_KEY; get one at https://console.mistral.ai/api-keys"
    );
    assert!(scripted.requests().is_empty());
}

#[tokio::test]
async fn keys_come_from_the_call_then_the_client_then_the_environment() {
    let scripted = Scripted::new([hello(), hello(), hello()]);
    let environment = crate::config::Environment::of([("ANTHROPIC_API_KEY", "from-environment")]);
    let builder = || Client::builder().transport(scripted.clone()).environment(environment.clone());
    let client = builder().key("claude", "wrong").build();
    assert!(client.unwrap_err().to_string().starts_with("unknown provider `claude`"));
    let client = builder().key("anthropic", "first").key("anthropic", "from-client").build().unwrap();
    client.ask(CLAUDE, "Hi").await.unwrap();
    client.model(CLAUDE).unwrap().key(" from-call\n").ask("Hi").await.unwrap();
    builder().build().unwrap().ask(CLAUDE, "Hi").await.unwrap();
    let keys: Vec<String> =
        scripted.requests().iter().map(|request| request.headers()["x-api-key"].to_str().unwrap().to_owned()).collect();
    assert_eq!(keys, ["from-client", "from-call", "from-environment"]);
}

#[tokio::test]
async fn addresses_and_headers_can_be_set_for_a_client_and_a_model() {
    let scripted = Scripted::new([hello(), hello()]);
    let client = Client::builder()
        .transport(scripted.clone())
        .environment(crate::config::Environment::of([("ANTHROPIC_API_KEY", "k")]))
        .base_url("anthropic", "http://proxy:4000/v1/")
        .header("x-team", "blue")
        .build()
        .unwrap();
    client.ask(CLAUDE, "Hi").await.unwrap();
    let model = client.model(CLAUDE).unwrap().base_url("http://other").header("anthropic-beta", "mine");
    model.header("x-team", "red").ask("Hi").await.unwrap();
    let requests = scripted.requests();
    assert_eq!(requests[0].uri().to_string(), "http://proxy:4000/v1/messages");
    assert_eq!(requests[0].headers()["x-team"], "blue");
    assert_eq!(requests[1].uri().to_string(), "http://other/v1/messages");
    assert_eq!(
        (requests[1].headers()["x-team"].as_bytes(), requests[1].headers()["anthropic-beta"].as_bytes()),
        (&b"red"[..], &b"mine"[..])
    );
}

#[tokio::test]
async fn an_overloaded_provider_is_tried_again_after_one_and_two_seconds() {
    let scripted = Scripted::new([overloaded(), Reply::Fail(Failure::Connect), hello()]);
    let clock = TestClock::skipping();
    let answer = scripted.client_with(clock.clone()).ask(CLAUDE, "Hi").await.unwrap();
    assert_eq!((answer.text().as_str(), scripted.requests().len()), ("Hello.", 3));
    let kinds: Vec<ErrorKind> = answer.attempts().iter().map(|attempt| attempt.kind).collect();
    assert_eq!(kinds, [ErrorKind::Overloaded, ErrorKind::Network]);
    let waits: Vec<f64> = answer.attempts().iter().map(|attempt| attempt.waited.unwrap().as_secs_f64()).collect();
    assert!((0.75..=1.0).contains(&waits[0]) && (1.5..=2.0).contains(&waits[1]), "{waits:?}");
    let requests = scripted.requests();
    assert!(requests.iter().all(|request| request.body() == requests[0].body()), "the same request each time");
}

#[tokio::test]
async fn three_tries_are_all() {
    let scripted = Scripted::new([overloaded(), overloaded(), overloaded()]);
    let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
    assert_eq!((error.kind(), error.status(), error.attempts().len()), (ErrorKind::Overloaded, Some(529), 3));
    assert_eq!(
        error.to_string(),
        "anthropic: Overloaded (status 529); tried anthropic:claude-haiku-4-5 (overloaded, 3 times)"
    );
    assert_eq!(scripted.requests().len(), 3);
}

async fn waited(reply: Reply) -> (usize, Option<Duration>, Option<Duration>) {
    let scripted = Scripted::new([reply, hello()]);
    let outcome = scripted.client().ask(CLAUDE, "Hi").await;
    let attempt = match &outcome {
        Ok(answer) => answer.attempts()[0].clone(),
        Err(error) => error.attempts()[0].clone(),
    };
    (scripted.requests().len(), attempt.waited, outcome.err().and_then(|error| error.retry_after()))
}

#[tokio::test]
async fn the_providers_own_delay_is_kept_in_every_form() {
    let limited = || Reply::new(429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}"#);
    let seconds = Duration::from_secs;
    assert_eq!(waited(limited().header("retry-after", "7")).await, (2, Some(seconds(7)), None));
    assert_eq!(waited(limited().header("retry-after-ms", "250")).await, (2, Some(seconds(1) / 4), None));
    let date = limited().header("retry-after", "Sun, 15 Nov 2026 00:00:30 GMT");
    assert_eq!(waited(date).await, (2, Some(seconds(30)), None));
    let reset = limited()
        .header("anthropic-ratelimit-input-tokens-remaining", "0")
        .header("anthropic-ratelimit-input-tokens-reset", "2026-11-15T00:00:12Z");
    assert_eq!(waited(reset).await, (2, Some(seconds(12)), None));
    // Too long to wait: the caller is told how long it would be.
    assert_eq!(waited(limited().header("retry-after", "3600")).await, (1, None, Some(seconds(3600))));
    // The provider says whether a retry is worthwhile.
    assert_eq!(waited(limited().header("x-should-retry", "false")).await, (1, None, None));
    let forced = Reply::new(400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"No"}}"#);
    assert_eq!(waited(forced.header("x-should-retry", "true")).await.0, 2);
    let quota = Reply::new(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
    );
    assert_eq!(waited(quota).await, (1, None, None));
}

#[tokio::test]
async fn googles_retry_info_is_kept() {
    let body = json!({"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}]}});
    let scripted = Scripted::new([Reply::new(429, body.to_string()), Reply::whole(Dialect::Gemini, &says("Hello."))]);
    let answer = scripted.client().ask("google:gemini-2.5-flash", "Hi").await.unwrap();
    assert_eq!(answer.attempts()[0].waited, Some(Duration::from_millis(34_400)));
}

#[tokio::test]
async fn a_deadline_ends_the_tries() {
    let scripted = Scripted::new([overloaded()]);
    let model = scripted.client().model(CLAUDE).unwrap();
    let hasty = model.retry(Retry::default().deadline(Duration::from_millis(500)));
    let error = hasty.ask("Hi").await.unwrap_err();
    assert_eq!((error.attempts().len(), error.is_retryable()), (1, true));
}

#[tokio::test]
async fn another_model_answers_when_the_first_cannot() {
    let scripted = Scripted::new([
        overloaded(),
        overloaded(),
        overloaded(),
        Reply::whole(Dialect::OpenaiResponses, &says("Hello from there.")),
    ]);
    let model = scripted.client().model("anthropic:claude-haiku-4-5/high").unwrap();
    let model = model.key("for-anthropic-only").header("x-secret", "1").base_url("http://mine");
    let model = model.fallback("mistral:mistral-large-latest").unwrap().fallback("openai:gpt-5.4").unwrap();
    let answer = model.ask("Hi").await.unwrap();
    assert_eq!((answer.text().as_str(), answer.provider()), ("Hello from there.", "openai"));
    let kinds: Vec<ErrorKind> = answer.attempts().iter().map(|attempt| attempt.kind).collect();
    assert_eq!(kinds, [ErrorKind::Overloaded, ErrorKind::Overloaded, ErrorKind::Overloaded, ErrorKind::Auth]);
    let last = scripted.requests().remove(3);
    assert_eq!(last.uri().to_string(), "https://api.openai.com/v1/responses");
    assert_eq!(last.headers()["authorization"], "Bearer sk-secret-of-OPENAI_API_KEY");
    assert!(!last.headers().contains_key("x-secret"), "what was given for one provider goes to no other");
    assert_eq!(scripted.body(3)["reasoning"]["effort"], "high", "the wish to think goes along");
}

#[tokio::test]
async fn when_no_model_answers_the_error_says_what_was_tried() {
    let denied = Reply::new(401, r#"{"error":{"message":"Wrong key","code":"invalid_api_key"}}"#);
    let scripted = Scripted::new([Reply::Fail(Failure::Connect), denied]);
    let model = scripted.client().model(CLAUDE).unwrap().retry(Retry::never());
    let error = model.fallback("openai:gpt-5.4").unwrap().ask("Hi").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "openai: Wrong key (status 401, code invalid_api_key); \
         tried anthropic:claude-haiku-4-5 (network), openai:gpt-5.4 (auth)"
    );
}

#[tokio::test]
async fn a_request_that_is_wrong_is_wrong_everywhere() {
    let bad = Reply::new(400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"No such thing"}}"#);
    let scripted = Scripted::new([bad]);
    let model = scripted.client().model(CLAUDE).unwrap().fallback("openai:gpt-5.4").unwrap();
    assert_eq!(model.ask("Hi").await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    assert_eq!(scripted.requests().len(), 1);
}

#[tokio::test]
async fn answers_that_make_no_sense_are_not_asked_for_again() {
    let scripted = Scripted::new([Reply::new(200, "<html>Welcome</html>")]);
    let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Protocol, 1));
    assert!(error.excerpt().unwrap().ends_with("it begins: <html>Welcome</html>"), "{error}");
}

#[tokio::test]
async fn a_moved_api_is_not_followed() {
    let scripted = Scripted::new([Reply::new(308, "").header("location", "https://evil.example/v1?x=1")]);
    let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, Some(308)));
    assert!(error.to_string().contains("has moved to https://evil.example/v1;"), "{error}");
}

#[tokio::test]
async fn no_error_shows_the_key_even_when_the_provider_does() {
    let key = "sk-secret-of-ANTHROPIC_API_KEY";
    let body =
        json!({"type": "error", "error": {"type": "authentication_error", "message": format!("invalid key {key}")}});
    let wrong = Reply::new(401, body.to_string());
    let scripted = Scripted::new([wrong, Reply::new(200, body.to_string())]);
    for _ in 0..2 {
        let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
        let shown = format!("{error} {error:?} {:?} {:?}", error.reason(), error.attempts());
        assert!(shown.contains("invalid key [key]") && !shown.contains("secret"), "{shown}");
    }
    let client = scripted.client();
    let model = client.model(CLAUDE).unwrap().key(key).header("x-token", key);
    let shown = format!("{client:?} {model:?}");
    assert!(!shown.contains("secret-of-ANTHROPIC_API_KEY"), "{shown}");
}

#[tokio::test]
async fn losses_are_warnings_unless_strict() {
    let scripted = Scripted::new([hello()]);
    let model =
        scripted.client().model("anthropic:claude-haiku-4-5/low").unwrap().with(|request| request.seed = Some(1));
    let answer = model.ask("Hi").await.unwrap();
    assert!(answer.warnings().any(|loss| loss.what == "seed"), "{:?}", answer.warnings().collect::<Vec<_>>());
    let error = model.strict().ask("Hi").await.unwrap_err();
    assert_eq!((error.kind(), scripted.requests().len()), (ErrorKind::InvalidRequest, 1));
}

#[tokio::test]
async fn budgets_can_be_set_and_follow_the_length_of_the_prompt() {
    let scripted = Scripted::new([hello(), hello(), hello()]);
    let model = scripted.client().model("anthropic:claude-sonnet-4-5/med").unwrap();
    model.clone().thinking_budget(50_000).ask("Hi").await.unwrap();
    assert_eq!(scripted.body(0)["thinking"]["budget_tokens"], 50_000);
    let model = model.dynamic_budget();
    model.ask("Hi").await.unwrap();
    assert_eq!(scripted.body(1)["thinking"]["budget_tokens"], 43_008);
    let long = "word ".repeat(130_000);
    let answer = model.ask(long.as_str()).await.unwrap();
    assert_eq!(scripted.body(2)["thinking"]["budget_tokens"], 10_000);
    let told: Vec<String> = answer.warnings().map(ToString::to_string).collect();
    let reduced = "thinking at thinking.budget: the conversation has more than 150,000 tokens, so the thinking budget is reduced to 10,000";
    assert_eq!(told, [reduced]);
    let preview = model.preview(long.as_str()).unwrap();
    assert_eq!(preview.losses.iter().map(ToString::to_string).collect::<Vec<_>>(), [reduced]);
}

#[test]
fn futures_can_be_sent_to_other_threads() {
    fn is_send<T: Send>(_: T) {}
    let model = Scripted::new([]).client().model(CLAUDE).unwrap();
    is_send(model.ask("Hi"));
    is_send(model.stream("Hi"));
    let mut chat = model.chat();
    is_send(chat.say("Hi"));
    is_send(crate::ask(CLAUDE, "Hi"));
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<Error>();
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    is_shared(&model);
    is_shared(model.client());
}

#[tokio::test]
async fn an_answer_that_names_no_model_carries_the_one_that_was_asked_for() {
    for (name, id, dialect, own) in [
        ("anthropic:claude-haiku-4-5", "claude-haiku-4-5", Dialect::Anthropic, "model"),
        ("openai:gpt-5.4", "gpt-5.4", Dialect::OpenaiResponses, "model"),
        ("deepseek:deepseek-chat", "deepseek-chat", Dialect::OpenaiChat, "model"),
        ("google:gemini-2.5-flash", "gemini-2.5-flash", Dialect::Gemini, "modelVersion"),
    ] {
        let (named, nameless) = (format!(r#""{own}":"m""#), format!(r#""not_{own}":"m""#));
        let without = |reply: Reply| reply.map(|text| text.replace(&named, &nameless));
        for (whole, stream, expected) in [
            (Reply::whole(dialect, &says("Hi")), Reply::stream(dialect, &says("Hi")), "m"),
            (without(Reply::whole(dialect, &says("Hi"))), without(Reply::stream(dialect, &says("Hi"))), id),
        ] {
            let scripted = Scripted::new([whole, stream]);
            let model = scripted.client().model(name).unwrap();
            let answer = model.ask("Hi").await.unwrap();
            assert_eq!((answer.text().as_str(), answer.response().model.as_str()), ("Hi", expected), "{name}");
            assert_eq!(answer.messages()[0].model.as_deref(), Some(expected), "{name}");
            let mut stream = model.stream("Hi").await.unwrap();
            let mut collector = ikigai_core::Collector::default();
            while let Some(event) = stream.next_event().await.unwrap() {
                collector.push(event);
            }
            assert_eq!(collector.finish().model, expected, "{name}, by its events");
            assert_eq!(stream.finish().await.unwrap().response().model, expected, "{name}, streamed");
        }
    }
}

#[tokio::test]
async fn the_file_of_keys_is_read_once_by_a_client() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials.toml");
    let write = |key: &str| {
        std::fs::write(&file, format!("anthropic = \"{key}\"\n")).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    let scripted = Scripted::new([hello(), hello(), hello(), hello()]);
    let client = || {
        let environment = crate::config::Environment::of([("X", "y")]).with_settings(folder.path());
        Client::builder().transport(scripted.clone()).environment(environment).build().unwrap()
    };
    write("first");
    let old = client();
    old.ask(CLAUDE, "Hi").await.unwrap();
    write("second");
    old.ask(CLAUDE, "Hi").await.unwrap();
    client().ask(CLAUDE, "Hi").await.unwrap();
    std::fs::remove_file(&file).unwrap();
    old.ask(CLAUDE, "Hi").await.unwrap();
    assert_eq!(client().ask(CLAUDE, "Hi").await.unwrap_err().kind(), ErrorKind::Auth);
    let keys: Vec<String> =
        scripted.requests().iter().map(|request| request.headers()["x-api-key"].to_str().unwrap().to_owned()).collect();
    assert_eq!(keys, ["first", "first", "second", "first"]);
    assert_eq!(old.key_of("anthropic").unwrap().unwrap().key.expose(), "first", "what a request would carry");
}

#[tokio::test]
async fn a_base_url_may_be_written_in_every_usual_way() {
    for base in ["http://host", "http://host/", "http://host/v1", "http://host/v1/"] {
        for (name, variable, dialect, path) in [
            ("openai:gpt-5.4", "OPENAI_BASE_URL", Dialect::OpenaiResponses, "/v1/responses"),
            ("openai:o1-mini", "OPENAI_BASE_URL", Dialect::OpenaiChat, "/v1/chat/completions"),
            ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", Dialect::Anthropic, "/v1/messages"),
        ] {
            for (base, expected) in [
                (base.to_owned(), format!("http://host{path}")),
                (base.replace("host", "host/a/path"), format!("http://host/a/path{path}")),
            ] {
                let scripted = Scripted::new([Reply::whole(dialect, &says("Hi")), Reply::whole(dialect, &says("Hi"))]);
                let key = variable.replace("BASE_URL", "API_KEY");
                let variables = [(variable, base.as_str()), (key.as_str(), "k")];
                let environment = crate::config::Environment::of(variables);
                let client = Client::builder().transport(scripted.clone()).environment(environment).build().unwrap();
                client.ask(name, "Hi").await.unwrap();
                scripted.client().model(name).unwrap().base_url(base).ask("Hi").await.unwrap();
                for request in scripted.requests() {
                    assert_eq!(request.uri().to_string(), expected);
                }
            }
        }
    }
    for base in ["http://host", "http://host/", "http://host/v1beta", "http://host/v1beta/"] {
        let scripted = Scripted::new([Reply::whole(Dialect::Gemini, &says("Hi"))]);
        scripted.client().model("google:gemini-2.5-flash").unwrap().base_url(base).ask("Hi").await.unwrap();
        let address = scripted.requests()[0].uri().to_string();
        assert_eq!(address, "http://host/v1beta/models/gemini-2.5-flash:generateContent");
    }
}

#[test]
fn without_a_runtime_there_is_an_error_that_says_so() {
    let scripted = Scripted::new([]);
    let model = scripted.client().model(CLAUDE).unwrap();
    let said = String::from("Hi");
    let mut asking = std::pin::pin!(model.ask(&said));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = asking.as_mut().poll(&mut cx) else { panic!("it waits") };
    assert_eq!(error.reason().to_string(), crate::runtime::MISSING);
}

#[tokio::test]
async fn tools_without_code_may_be_given_as_they_are() {
    let scripted = Scripted::new([]);
    let tools = vec![ikigai_core::Tool::new("clock", "Tells the time.")];
    let model = scripted.client().model(CLAUDE).unwrap().tools(tools.clone());
    assert_eq!(model.plan.request.tools, tools);
}
