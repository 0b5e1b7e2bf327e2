//! The simulator over a real socket: answers, scripts, faults, controls.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use ikigai_core::{Dialect, ErrorKind, FinishReason};
use ikigai_sim::{Config, Fault, FaultRule, Script, Sim};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::{Got, ask, control, send, send_for};

/// Asks for a long answer as a stream, with a fault.
fn broken(sim: &Sim, dialect: Dialect, fault: &str) -> Got {
    let (path, body) = ask(dialect, "count to 200", true);
    send(sim, &path, &format!("x-sim-fault: {fault}\r\n"), &body)
}

const WHOLE: usize = 2;

fn answer() -> String {
    (1..=200).map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_request_gets_the_same_bytes() {
    let (one, other) = (Sim::start().await.unwrap(), Sim::start().await.unwrap());
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let (path, body) = ask(dialect, "count to 200", stream);
            let (a, b) = (send(&one, &path, "", &body), send(&other, &path, "", &body));
            assert_eq!((a.status(), a.whole), (200, true), "{dialect}: {a:?}");
            assert_eq!(String::from_utf8(a.body).unwrap(), String::from_utf8(b.body).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_decode_to_the_whole_answer_in_every_dialect() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        let (path, body) = ask(dialect, "count to 200", true);
        let response = send(&sim, &path, "", &body).response(dialect);
        assert_eq!((response.text(), response.finish_reason), (answer(), FinishReason::Stop), "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scripted_text_ends_as_any_other() {
    let sim = Sim::start().await.unwrap();
    sim.expect(Script::from_toml("[[reply]]\ntimes = 0\ntext = \"Scripted.\"\n", "s.toml").unwrap());
    for (dialect, place, word) in [
        (Dialect::Anthropic, "/stop_reason", "end_turn"),
        (Dialect::OpenaiChat, "/choices/0/finish_reason", "stop"),
        (Dialect::OpenaiResponses, "/status", "completed"),
        (Dialect::Gemini, "/candidates/0/finishReason", "STOP"),
    ] {
        let (path, body) = ask(dialect, "Anything", false);
        let got = send(&sim, &path, "", &body).json();
        assert_eq!(got.pointer(place), Some(&json!(word)), "{got}");
        let (path, body) = ask(dialect, "Anything", true);
        let response = send(&sim, &path, "", &body).response(dialect);
        assert_eq!((response.text().as_str(), response.finish_reason), ("Scripted.", FinishReason::Stop), "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_without_sse_is_one_array() {
    let sim = Sim::start().await.unwrap();
    let (_, body) = ask(Dialect::Gemini, "count to 200", true);
    let got = send(&sim, "/v1beta/models/gemini-2.5-flash:streamGenerateContent", "", &body);
    assert!(got.json().as_array().is_some_and(|frames| frames.len() > 3), "{got:?}");
    assert_eq!(got.response(Dialect::Gemini).text(), answer());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_comes_in_the_words_and_headers_of_each_provider() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        for (status, kind) in [
            (400, ErrorKind::InvalidRequest),
            (401, ErrorKind::Auth),
            (403, ErrorKind::Permission),
            (404, ErrorKind::NotFound),
            (408, ErrorKind::Timeout),
            (413, ErrorKind::RequestTooLarge),
            (429, ErrorKind::RateLimit),
            (500, ErrorKind::Server),
            (502, ErrorKind::Server),
            (503, ErrorKind::Overloaded),
            (529, ErrorKind::Overloaded),
        ] {
            let got = broken(&sim, dialect, &format!("status={status},retry_after_ms=7000"));
            let headers: Vec<(String, String)> = got
                .head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            let error = dialect.decode_error(Some(got.status()), &headers, &String::from_utf8_lossy(&got.body));
            assert_eq!((got.status(), error.kind), (status, kind), "{dialect}: {got:?}");
            if status == 429 {
                assert_eq!(error.retry_after_ms, Some(7000), "{dialect}: {got:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_break_where_they_are_told_to() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        let nothing = broken(&sim, dialect, "cut_before_headers");
        assert_eq!((nothing.head.as_str(), nothing.whole), ("", false), "{dialect}");

        let half_a_head = broken(&sim, dialect, "cut_mid_header");
        assert!(half_a_head.head.starts_with("HTTP/1.1 200 OK") && !half_a_head.whole, "{half_a_head:?}");
        assert_eq!(half_a_head.head.len(), 40);

        for fault in ["cut_mid_event", "cut_before_end", "reset", "end_without_end"] {
            let got = broken(&sim, dialect, fault);
            assert_eq!(got.whole, fault == "end_without_end", "{dialect} {fault}");
            let response = got.response(dialect);
            let text = response.text();
            assert!(text.len() > 20 && answer().starts_with(&text), "{dialect} {fault}: {text}");
            if fault == "reset" {
                assert_eq!(got.error, Some(std::io::ErrorKind::ConnectionReset), "{dialect}");
            }
            // Dialects whose finish reason comes before the last frame have said everything by then.
            let said_all = matches!(
                (dialect, fault),
                (Dialect::OpenaiChat | Dialect::Anthropic, "cut_before_end" | "end_without_end")
            );
            if !said_all {
                assert_eq!(response.finish_reason, FinishReason::Error, "{dialect} {fault}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_break_in_the_ways_they_are_told_to() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        for fault in ["malformed_json", "invalid_utf8"] {
            let response = broken(&sim, dialect, fault).response(dialect);
            assert_eq!(response.error.map(|error| error.kind), Some(ErrorKind::Protocol), "{dialect} {fault}");
        }
        let overloaded = broken(&sim, dialect, "error_event").response(dialect);
        assert_eq!(overloaded.error.map(|error| error.kind), Some(ErrorKind::Overloaded), "{dialect}");
        let html = broken(&sim, dialect, "wrong_content_type");
        assert_eq!(html.header("content-type"), Some("text/html; charset=utf-8"), "{dialect}");
        let giant = broken(&sim, dialect, "giant_event,bytes=100000");
        assert!(giant.body.len() > 100_000, "{dialect}");
        let plain = broken(&sim, dialect, "slow_drip,ms=0").body.len();
        assert_eq!(broken(&sim, dialect, "duplicate_events").body.len(), plain * WHOLE, "{dialect}");
        let swapped = broken(&sim, dialect, "out_of_order_events");
        assert!(swapped.body.len() == plain && swapped.response(dialect).text() != answer(), "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_is_waiting() {
    let sim = Sim::start().await.unwrap();
    let began = Instant::now();
    let got = broken(&sim, Dialect::OpenaiChat, "slow_first_byte,ms=150");
    assert!(began.elapsed() >= Duration::from_millis(150) && got.whole);
    let (path, body) = ask(Dialect::OpenaiChat, "count to 200", true);
    let headers = "authorization: Bearer key\r\nx-sim-fault: stall\r\n";
    let stalled = send_for(Duration::from_secs(2), &sim, &path, headers, &body);
    assert!(!stalled.whole && stalled.error.is_some(), "the connection stays open: {stalled:?}");
    assert!(answer().starts_with(&stalled.response(Dialect::OpenaiChat).text()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_body_breaks_too() {
    let sim = Sim::start().await.unwrap();
    for dialect in Dialect::ALL {
        let (path, body) = ask(dialect, "count to 200", false);
        let got = send(&sim, &path, "x-sim-fault: cut_mid_event\r\n", &body);
        assert!(got.status() == 200 && !got.whole && !got.body.is_empty(), "{dialect}: {got:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_by_number_hit_that_request_alone() {
    let mut config = Config::default();
    config.faults =
        vec![FaultRule { fault: Fault::Status { status: 500, retry_after_ms: None }, rate: None, nth: Some(2) }];
    let sim = Sim::with(config).await.unwrap();
    let (path, body) = ask(Dialect::OpenaiChat, "Hi", false);
    let statuses: Vec<u16> = (0..3).map(|_| send(&sim, &path, "", &body).status()).collect();
    assert_eq!(statuses, [200, 500, 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_connections_are_refused_and_come_back() {
    let sim = Sim::start().await.unwrap();
    assert_eq!(control(&sim, "refuse", &json!({"ms": 300})).status(), 200);
    let address = sim.url().strip_prefix("http://").unwrap().to_owned();
    let refused = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        TcpStream::connect(&address).is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    });
    assert!(refused);
    let back = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        TcpStream::connect(&address).is_ok()
    });
    assert!(back);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_answer_and_requests_are_read_back_without_keys() {
    let sim = Sim::start().await.unwrap();
    sim.expect(Script::from_toml("[[reply]]\nwhen = { text = \"weather\" }\ntool_calls = [{ name = \"get_weather\", arguments = { city = \"Oslo\" } }]\n", "s.toml").unwrap());
    let (path, body) = ask(Dialect::Anthropic, "How is the weather?", false);
    let got = send(&sim, &path, "x-api-key: secret-key\r\n", &body).json();
    assert_eq!(got.pointer("/content/0/input"), Some(&json!({"city": "Oslo"})));
    assert_eq!(got["stop_reason"], "tool_use");
    assert_eq!(control(&sim, "expect", &json!({"reply": [{"text": "Scripted."}]})).json(), json!({"queued": 1}));
    let (path, body) = ask(Dialect::Gemini, "Anything", false);
    let got = send(&sim, &format!("{path}?key=secret-key"), "", &body).json();
    assert_eq!(got.pointer("/candidates/0/content/parts/0/text"), Some(&json!("Scripted.")));
    let received = sim.requests();
    assert_eq!(received.iter().map(|request| request.number).collect::<Vec<_>>(), [1, 2]);
    assert!(!serde_json::to_string(&received).unwrap().contains("secret-key"));
    assert_eq!(control(&sim, "reset", &json!({})).status(), 200);
    assert_eq!(sim.requests(), []);
    let bad = control(&sim, "expect", &json!({"reply": [{"txt": 1}]}));
    assert_eq!(bad.status(), 400);
    assert!(
        bad.json().pointer("/error/message").unwrap().as_str().unwrap().contains("reply[0].txt: unknown field `txt`"),
        "{bad:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn configured_keys_are_the_only_ones() {
    let mut config = Config::default();
    config.keys = vec!["other".to_owned()];
    let sim = Sim::with(config).await.unwrap();
    for (dialect, status) in
        [(Dialect::Anthropic, 401), (Dialect::OpenaiChat, 401), (Dialect::OpenaiResponses, 401), (Dialect::Gemini, 400)]
    {
        let (path, body) = ask(dialect, "Hi", false);
        let got = send(&sim, &path, "", &body);
        let error = dialect.decode_error(Some(got.status()), &[], &String::from_utf8_lossy(&got.body));
        assert_eq!((got.status(), error.kind), (status, ErrorKind::Auth), "{dialect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_with_its_place() {
    let sim = Sim::start().await.unwrap();
    let lost = send(&sim, "/v2/anything", "", &json!({}));
    assert_eq!(
        (lost.status(), lost.json()["error"]["message"].clone()),
        (404, json!("the simulator has no POST /v2/anything"))
    );
    let fault = broken(&sim, Dialect::OpenaiChat, "nonsense");
    assert_eq!(fault.status(), 400);
    let connections = sim.connections();
    assert!(connections <= 2, "{connections} connections are open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canned_answers_are_the_first_ones() {
    let mut config = Config::default();
    config.canned = true;
    let sim = Sim::with(config).await.unwrap();
    for dialect in Dialect::ALL {
        for stream in [true, false] {
            let (path, first) = ask(dialect, "count to 200", stream);
            let (_, second) = ask(dialect, "something else", stream);
            let (first, second) = (send(&sim, &path, "", &first), send(&sim, &path, "", &second));
            assert_eq!(first.status(), 200, "{dialect}: {first:?}");
            assert_eq!(first.body, second.body, "{dialect}");
        }
    }
    assert_eq!(sim.requests(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canned_answers_are_streams_only_where_the_request_itself_says_so() {
    let mut config = Config::default();
    config.canned = true;
    let sim = Sim::with(config).await.unwrap();
    let (path, mut body) = ask(Dialect::OpenaiChat, "hello", false);
    let schema = json!({"type": "object", "properties": {}, "default": {"stream": true}});
    body["tools"] = json!([{"type": "function", "function": {"name": "play", "parameters": schema}}]);
    let whole = send(&sim, &path, "", &body);
    assert_eq!((whole.status(), whole.json()["object"].clone()), (200, json!("chat.completion")));
    let (path, body) = ask(Dialect::OpenaiChat, "hello", true);
    let stream = send(&sim, &path, "", &body);
    assert!(stream.body.starts_with(b"data: "), "{stream:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bases_named_after_a_provider_lead_to_its_api() {
    let sim = Sim::start().await.unwrap();
    for (dialect, base) in [
        (Dialect::Anthropic, "/anthropic"),
        (Dialect::OpenaiChat, "/openai"),
        (Dialect::OpenaiResponses, "/openai"),
        (Dialect::Gemini, "/gemini"),
    ] {
        let (path, body) = ask(dialect, "hello", false);
        let (plain, based) = (send(&sim, &path, "", &body), send(&sim, &format!("{base}{path}"), "", &body));
        assert_eq!((plain.status(), &plain.body), (200, &based.body), "{dialect}");
    }
}
