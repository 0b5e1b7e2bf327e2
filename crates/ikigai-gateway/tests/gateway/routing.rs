//! Names, patterns, fallbacks, pass-through.

use ikigai::Dialect;
use ikigai_gateway::{Gateway, Setup};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::answers::read;
use crate::support::{House, KEY, config, environment, models, question, to};

const CHAT: Dialect = Dialect::ALL[1];
const ANTHROPIC: Dialect = Dialect::ALL[0];

#[tokio::test(flavor = "multi_thread")]
async fn bytes_pass_through_but_for_the_models_name() {
    let house = House::with("[models.\"fast*\"]\ntargets = [\"sim:claude-sonnet-4-5\"]").await;
    let body = "{ \"model\" : \"fast-one\",\n \"max_tokens\":100, \"temperature\": 1.0, \"metadata\": {\"user_id\": \"\\u0041\"},\
                \"messages\": [ {\"role\":\"user\",\"content\":\"Hello\"} ] }";
    let bearer = format!("Bearer {KEY}");
    let headers =
        [("authorization", bearer.as_str()), ("anthropic-version", "2023-06-01"), ("x-forwarded-for", "10.0.0.1")];
    let answer = house.send("POST", "/anthropic/v1/messages?beta=true", &headers, body).await;
    assert_eq!((answer.status, answer.header("x-ikigai-model")), (200, "sim:claude-sonnet-4-5"), "{}", answer.text());
    let received = house.sim.requests().pop().unwrap();
    assert_eq!(received.path, "/v1/messages?beta=true");
    let sent = format!("{:?}", received.headers);
    assert!(!sent.contains("10.0.0.1") && !sent.contains(KEY), "{sent}");
    assert_eq!(received.body["model"], "claude-sonnet-4-5");
    assert_eq!(answer.json()["model"], "claude-sonnet-4-5");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_names_what_was_asked_for_where_that_is_set() {
    let entry =
        |name: &str, target: &str| format!("[models.{name}]\ntargets = [\"sim:{target}\"]\nanswer_model = \"asked\"\n");
    let house = House::with(&[entry("same", "claude-sonnet-4-5"), entry("other", "gemini-2.5-pro")].concat()).await;
    for model in ["same", "other"] {
        for streams in [false, true] {
            let (path, body) = question(ANTHROPIC, model, "Hello", streams);
            let answer = house.post(&path, &body).await;
            let response = read(ANTHROPIC, &answer, streams).unwrap();
            assert_eq!(response.model, model, "{}", answer.text());
            assert!(!answer.text().contains("claude-sonnet-4-5"), "{}", answer.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_tried_in_order_until_one_answers() {
    let house =
        House::with("[models.smart]\ntargets = [\"sim:claude-sonnet-4-5\", \"sim:gpt-5.4\", \"sim:gemini-2.5-pro\"]")
            .await;
    for streams in [false, true] {
        house.sim.reset();
        house.fault_at(1, "status=529");
        house.fault_at(2, "cut_before_headers");
        let (path, body) = question(CHAT, "smart", "What is 17 * 3?", streams);
        let answer = house.post(&path, &body).await;
        let response = read(CHAT, &answer, streams).unwrap();
        assert!(response.text().contains("51"), "{}", response.text());
        assert_eq!(answer.header("x-ikigai-model"), "sim:gemini-2.5-pro");
        assert_eq!(house.sim.requests().len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_request_is_not_tried_elsewhere() {
    let house = House::with("[models.smart]\ntargets = [\"sim:claude-sonnet-4-5\", \"sim:gpt-5.4\"]").await;
    let (path, mut body) = question(ANTHROPIC, "smart", "Hello", false);
    body["max_tokens"] = (-1).into();
    let answer = house.post(&path, &body).await;
    assert_eq!((answer.status, house.sim.requests().len()), (400, 1), "{}", answer.text());
    assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_in_a_targets_name_is_the_default_for_thinking() {
    let house = House::with("[models.deep]\ntargets = [\"sim:claude-sonnet-4-5/high\"]").await;
    let (path, mut body) = question(ANTHROPIC, "deep", "Hello", false);
    body["max_tokens"] = 30_000.into();
    assert_eq!(house.post(&path, &body).await.status, 200);
    assert_eq!(house.sim.requests().pop().unwrap().body["thinking"]["type"], "enabled");
    // The client's own setting takes precedence.
    body["thinking"] = json!({"type": "disabled"});
    assert_eq!(house.post(&path, &body).await.status, 200);
    assert_ne!(house.sim.requests().pop().unwrap().body["thinking"]["type"], "enabled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_model_is_not_found_in_every_dialect_and_the_nearest_is_named() {
    let house = House::with("[models.smart]\ntargets = [\"sim:claude-sonnet-4-5\"]").await;
    for dialect in Dialect::ALL {
        for (model, near) in [
            ("smrat", "smart"),
            ("gemni-2.5-pro", "gemini-2.5-pro"),
            ("anthropic:claude-opus-4-5", "no key for anthropic"),
        ] {
            let (path, body) = question(dialect, model, "Hello", false);
            let answer = house.post(&path, &body).await;
            assert_eq!(answer.status, 404, "{dialect} {model}: {}", answer.text());
            assert!(answer.text().contains(near), "{dialect} {model}: {}", answer.text());
        }
    }
    assert_eq!(house.sim.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_configuration_takes_effect_and_a_bad_one_does_not() {
    let house = House::with("[models.one]\ntargets = [\"sim:claude-sonnet-4-5\"]").await;
    let ask = async |model: &str| {
        let (path, body) = question(ANTHROPIC, model, "Hello", false);
        house.post(&path, &body).await.status
    };
    assert_eq!((ask("one").await, ask("two").await), (200, 404));
    house.gateway.reload(crate::support::config("[models.two]\ntargets = [\"sim:claude-sonnet-4-5\"]")).unwrap();
    assert_eq!((ask("one").await, ask("two").await), (404, 200));
    let mut elsewhere = crate::support::config("");
    elsewhere.listen = "127.0.0.1:1".parse().unwrap();
    let error = house.gateway.reload(elsewhere).unwrap_err();
    assert_eq!(error.to_string(), "`listen` cannot be changed while the gateway runs; restart it");
    assert_eq!(ask("two").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulator_in_the_environment_is_used() {
    let mut house = House::new("").await;
    let given = environment().with_variable("IKIGAI_SIM_URL", house.sim.url());
    house.gateway = Gateway::start(config(&models()), Setup::new(given).unwrap()).await.unwrap();
    for dialect in Dialect::ALL {
        let (path, body) = question(dialect, &to(dialect), "say hello", false);
        let answer = house.post(&path, &body).await;
        assert_eq!((answer.status, answer.text().contains("hello")), (200, true), "{dialect}: {}", answer.text());
    }
}
