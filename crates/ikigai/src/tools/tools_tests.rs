//! Turns with tools: what is run, what the model is told, when the turn ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ikigai_core::{Block, Dialect, FinishReason, Response, Role, ToolChoice};
use pretty_assertions::assert_eq;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Reply, Scripted, TestClock, calls, says};
use crate::{ErrorKind, Model, Reason, schemars};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";

/// Tells the weather in a city.
#[derive(Deserialize, schemars::JsonSchema)]
struct Weather {
    /// The city's name.
    city: String,
    #[serde(default)]
    days: Option<u8>,
}

fn weather() -> Callable {
    tool(|w: Weather| async move { format!("{}: 4 °C for {} days", w.city, w.days.unwrap_or(1)) })
}

fn whole(response: &Response) -> Reply {
    Reply::whole(Dialect::Anthropic, response)
}

fn oslo_and_bergen() -> Response {
    calls(&[("c1", "weather", json!({"city": "Oslo"})), ("c2", "weather", json!({"city": "Bergen", "days": 3}))])
}

/// Runs a turn in which the model makes these calls and is then done. Returns the results as (is_error, text).
async fn results(model: impl FnOnce(Model) -> Model, made: Response) -> Vec<(bool, String)> {
    let scripted = Scripted::new([whole(&made), whole(&says("Done."))]);
    let model = model(scripted.client().model(CLAUDE).unwrap());
    model.ask("Go").await.unwrap();
    let sent = scripted.body(1)["messages"][2]["content"].clone();
    let texts = |content: &Value| match content {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let result = |result: &Value| (result["is_error"].as_bool().unwrap_or(false), texts(&result["content"]));
    sent.as_array().unwrap().iter().map(result).collect()
}

#[tokio::test]
async fn tools_are_run_until_the_model_is_done() {
    let scripted = Scripted::new([whole(&oslo_and_bergen()), whole(&says("Wear a coat."))]);
    let model = scripted.client().model(CLAUDE).unwrap().tool(weather());
    let answer = model.ask("What should I wear in Oslo and Bergen?").await.unwrap();
    assert_eq!(answer.text(), "Wear a coat.");
    assert_eq!(answer.steps().count(), 2);
    assert_eq!(answer.usage().unwrap().total_tokens(), 30, "of both steps");
    assert_eq!(answer.cost().unwrap().total().to_string(), "$0.000070");
    let roles: Vec<Role> = answer.messages().iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::Assistant, Role::Tool, Role::Assistant]);

    let tools = &scripted.body(0)["tools"];
    assert_eq!(
        (&tools[0]["name"], &tools[0]["description"]),
        (&json!("weather"), &json!("Tells the weather in a city."))
    );
    assert_eq!(tools[0]["input_schema"]["properties"]["city"]["description"], "The city's name.");
    let results = &scripted.body(1)["messages"][2]["content"];
    assert_eq!(results[0]["tool_use_id"], "c1");
    assert_eq!(results[1]["tool_use_id"], "c2");
    assert!(results.to_string().contains("Bergen: 4 °C for 3 days"), "{results}");
}

#[tokio::test]
async fn tools_run_in_streams_too() {
    let scripted = Scripted::new([
        Reply::stream(Dialect::Anthropic, &oslo_and_bergen()),
        Reply::stream(Dialect::Anthropic, &says("Wear a coat.")),
    ]);
    let model = scripted.client().model(CLAUDE).unwrap().tool(weather());
    let mut stream = model.stream("What should I wear?").await.unwrap();
    let mut text = String::new();
    while let Some(piece) = stream.text().await.unwrap() {
        text.push_str(&piece);
    }
    let answer = stream.finish().await.unwrap();
    assert_eq!((text.as_str(), answer.text().as_str(), answer.steps().count()), ("Wear a coat.", "Wear a coat.", 2));
    assert_eq!((scripted.requests().len(), scripted.open()), (2, 0));
}

#[tokio::test]
async fn calls_run_side_by_side_and_results_keep_their_order() {
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let tool = Callable::new(Tool::new("meet", ""), move |call: ToolCall| {
        let barrier = Arc::clone(&barrier);
        async move {
            // Neither call gets past this alone.
            barrier.wait().await;
            if call.id == "c1" {
                tokio::task::yield_now().await;
            }
            call.id
        }
    })
    .no_timeout();
    let made = calls(&[("c1", "meet", json!({})), ("c2", "meet", json!({}))]);
    assert_eq!(results(|model| model.tool(tool), made).await, [(false, "c1".to_owned()), (false, "c2".to_owned())]);
}

#[tokio::test]
async fn wrong_arguments_go_back_to_the_model_with_what_is_wrong() {
    let made = calls(&[
        ("c1", "weather", json!({"town": "Oslo"})),
        ("c2", "weather", json!({"city": 7})),
        ("c3", "wether", json!({})),
        ("c4", "weather", json!({"city": "Oslo", "days": 300})),
    ]);
    let results = results(|model| model.tool(weather()), made).await;
    assert!(results.iter().all(|(is_error, _)| *is_error), "{results:?}");
    assert!(results[0].1.contains("\"city\" is a required property"), "{}", results[0].1);
    assert!(results[1].1.contains("city: 7 is not of type \"string\""), "{}", results[1].1);
    assert_eq!(results[2].1, "there is no tool `wether`; the tools are weather");
    assert!(results[3].1.contains("days"), "{}", results[3].1);
}

#[tokio::test]
async fn a_tool_that_fails_panics_or_takes_too_long_has_a_result_all_the_same() {
    let fails = Callable::new(Tool::new("fails", ""), |_| async { Err::<String, _>("no such file") });
    let panics = Callable::new(Tool::new("panics", ""), |_| async {
        if true {
            panic!("at the disco");
        }
    });
    let hangs =
        Callable::new(Tool::new("hangs", ""), |_| std::future::pending::<String>()).timeout(Duration::from_secs(9));
    let made = calls(&[("c1", "fails", json!({})), ("c2", "panics", json!({})), ("c3", "hangs", json!({}))]);
    let results = results(|model| model.tools([fails, panics, hangs]), made).await;
    assert_eq!(
        results,
        [
            (true, "no such file".to_owned()),
            (true, "the tool crashed".to_owned()),
            (true, "the tool took longer than 9 s and was stopped".to_owned()),
        ]
    );
}

#[tokio::test]
async fn a_call_needs_leave_where_that_is_asked_for() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let results = results(
        |model| {
            model.tool(weather()).approve(move |call| {
                log.lock().unwrap().push(call.id.clone());
                async move {
                    if call.id == "c1" { Approval::Allow } else { Approval::Deny("it rains there".to_owned()) }
                }
            })
        },
        oslo_and_bergen(),
    )
    .await;
    assert_eq!(*asked.lock().unwrap(), ["c1", "c2"]);
    assert_eq!(results[0], (false, "Oslo: 4 °C for 1 days".to_owned()));
    assert_eq!(results[1], (true, "this call was not allowed: it rains there".to_owned()));
}

#[tokio::test]
async fn results_may_be_json_pictures_or_nothing() {
    let json_tool = Callable::new(Tool::new("json", ""), |_| async { Json(vec![1, 2]) });
    let nothing = Callable::new(Tool::new("nothing", ""), |_| async {});
    let picture = Callable::new(Tool::new("picture", ""), |_| async {
        vec![Block::text("Here:"), Block::file(b"\x89PNG\r\n\x1a\n0000", "x.png")]
    });
    let made = calls(&[("c1", "json", json!({})), ("c2", "nothing", json!({})), ("c3", "picture", json!({}))]);
    let scripted = Scripted::new([whole(&made), whole(&says("Done."))]);
    let model = scripted.client().model(CLAUDE).unwrap().tools([json_tool, nothing, picture]);
    model.ask("Go").await.unwrap();
    let sent = scripted.body(1)["messages"][2]["content"].to_string();
    assert!(sent.contains("[1,2]") && sent.contains("done"), "{sent}");
    assert!(sent.contains("\"image\"") && sent.contains("image/png"), "{sent}");
}

#[tokio::test]
async fn a_limit_of_steps_ends_the_turn_with_an_error_that_keeps_it() {
    let scripted = Scripted::new((0..3).map(|_| whole(&oslo_and_bergen())));
    let model = scripted.client().model(CLAUDE).unwrap().tool(weather()).max_steps(3);
    let error = model.ask("Go").await.unwrap_err();
    assert!(matches!(error.reason(), Reason::StepLimit(3)), "{error:?}");
    assert_eq!((error.kind(), error.messages().len(), scripted.requests().len()), (ErrorKind::StepLimit, 4, 3));
    assert_eq!(error.partial().unwrap().tool_calls().count(), 2);
}

#[tokio::test]
async fn without_code_and_in_manual_mode_calls_are_the_callers() {
    let bare = Callable::from(Tool::new("weather", "Tells the weather."));
    for (model, count) in [
        (Scripted::new([whole(&oslo_and_bergen())]).client().model(CLAUDE).unwrap().tool(bare), 2),
        (Scripted::new([whole(&oslo_and_bergen())]).client().model(CLAUDE).unwrap().tool(weather()).manual_tools(), 2),
    ] {
        let answer = model.ask("Go").await.unwrap();
        assert_eq!((answer.finish_reason(), answer.tool_calls().count()), (FinishReason::ToolUse, count));
    }
}

#[tokio::test]
async fn tools_can_be_taken_away_again() {
    let scripted = Scripted::new([whole(&says("Hello."))]);
    let model = scripted.client().model(CLAUDE).unwrap().tool(weather()).without_tools();
    model.ask("Go").await.unwrap();
    assert_eq!(scripted.body(0).get("tools"), None);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_never_run() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = Callable::new(Tool::new("weather", ""), move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { "sunny" }
    });
    let mut cut = oslo_and_bergen();
    cut.finish_reason = FinishReason::Length;
    let scripted = Scripted::new([whole(&cut)]);
    let answer = scripted.client().model(CLAUDE).unwrap().tool(tool).ask("Go").await.unwrap();
    assert_eq!((answer.finish_reason(), ran.load(Ordering::SeqCst)), (FinishReason::Length, 0));
}

#[tokio::test]
async fn a_forced_tool_is_forced_once() {
    let scripted = Scripted::new([whole(&oslo_and_bergen()), whole(&says("Done."))]);
    let model = scripted.client().model(CLAUDE).unwrap().tool(weather()).tool_choice(ToolChoice::Required);
    model.ask("Go").await.unwrap();
    assert_eq!(
        (&scripted.body(0)["tool_choice"]["type"], &scripted.body(1)["tool_choice"]),
        (&json!("any"), &Value::Null)
    );
}

#[tokio::test]
async fn dropping_a_turn_stops_its_tools() {
    struct Alive(Arc<AtomicUsize>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&alive);
    let tool = Callable::new(Tool::new("weather", ""), move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        let guard = Alive(Arc::clone(&counter));
        async move {
            let _guard = guard;
            std::future::pending::<String>().await
        }
    });
    let scripted = Scripted::new([whole(&oslo_and_bergen())]);
    let model = scripted.client_with(TestClock::stopped()).model(CLAUDE).unwrap().tool(tool);
    let asking = tokio::spawn(async move { model.ask("Go").await });
    while alive.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    while alive.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_tool_can_be_run_without_a_model() {
    let arguments = |value: Value| value.as_object().cloned().unwrap();
    let output = weather().execute(arguments(json!({"city": "Oslo", "days": 2}))).await;
    assert_eq!(output, Ok(Output::new("Oslo: 4 °C for 2 days")));
    let Err(ExecuteError::InvalidArguments { name, faults }) = weather().execute(arguments(json!({"days": 2}))).await
    else {
        panic!("the city is missing");
    };
    assert_eq!((name.as_str(), faults.len()), ("weather", 1));
    let bare = Callable::from(weather().definition().clone());
    let nobody = bare.execute(arguments(json!({"city": "Oslo"}))).await;
    assert_eq!(nobody, Err(ExecuteError::NotRunnable("weather".to_owned())));
    let slow = tool(|_: Weather| std::future::pending::<String>()).timeout(Duration::from_millis(1));
    let stopped = slow.execute(arguments(json!({"city": "Oslo"}))).await.unwrap();
    assert!(stopped.is_error, "{stopped:?}");
}
