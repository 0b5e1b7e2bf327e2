//! Every fault of the simulator, in every dialect, streamed and not: the right kind of error, the part that had arrived,
//! no hang, nothing sent twice, every connection free again.

use std::time::Duration;

use ikigai::transport::Timeouts;
use ikigai::{Answer, Error, ErrorKind, FinishReason, Model, Retry};
use ikigai_sim::{Config, Fault, FaultRule, Sim};
use pretty_assertions::assert_eq;

use crate::support;

const PROMPT: &str = "say one two three four five six seven eight";
const WHOLE: &str = "one two three four five six seven eight";
/// What has arrived when a stream breaks in the middle.
const HALF: &str = "one two three four five ";

/// The same for Gemini, whose text is signed in a separate frame at the end, which moves the middle.
const MOST: &str = "one two three four five six seven ei";

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    /// The whole answer.
    Answer,
    /// An answer whose text may be damaged: some dialects have no way to detect it.
    SomeAnswer,
    /// An error before any content.
    Error(ErrorKind),
    /// An error after this text.
    Broken(ErrorKind, &'static str),
}

use ErrorKind::{
    Auth, InvalidRequest, Network, NotFound, Overloaded, Permission, Protocol, RateLimit, RequestTooLarge, Server,
    Timeout,
};
use Outcome::{Broken, SomeAnswer};

/// Each fault with its outcome, streamed and not.
const FAULTS: [(&str, Outcome, Outcome); 28] = [
    ("status=400", Outcome::Error(InvalidRequest), Outcome::Error(InvalidRequest)),
    ("status=401", Outcome::Error(Auth), Outcome::Error(Auth)),
    ("status=403", Outcome::Error(Permission), Outcome::Error(Permission)),
    ("status=404", Outcome::Error(NotFound), Outcome::Error(NotFound)),
    ("status=408", Outcome::Error(Timeout), Outcome::Error(Timeout)),
    ("status=413", Outcome::Error(RequestTooLarge), Outcome::Error(RequestTooLarge)),
    ("status=429,retry_after_ms=2000", Outcome::Error(RateLimit), Outcome::Error(RateLimit)),
    ("status=500", Outcome::Error(Server), Outcome::Error(Server)),
    ("status=502", Outcome::Error(Server), Outcome::Error(Server)),
    ("status=503", Outcome::Error(Overloaded), Outcome::Error(Overloaded)),
    ("status=529", Outcome::Error(Overloaded), Outcome::Error(Overloaded)),
    ("slow_first_byte,ms=20", Outcome::Answer, Outcome::Answer),
    ("slow_first_byte,ms=600000", Outcome::Error(Timeout), Outcome::Error(Timeout)),
    ("slow_drip,ms=2", Outcome::Answer, Outcome::Answer),
    ("stall", Broken(Timeout, HALF), Outcome::Error(Timeout)),
    ("cut_before_headers", Outcome::Error(Network), Outcome::Error(Network)),
    ("cut_mid_header", Outcome::Error(Network), Outcome::Error(Network)),
    ("cut_mid_event", Broken(Network, HALF), Outcome::Error(Network)),
    ("cut_before_end", Broken(Network, WHOLE), Outcome::Error(Network)),
    ("end_without_end", Broken(Protocol, WHOLE), Outcome::Error(Protocol)),
    ("malformed_json", Broken(Protocol, HALF), Outcome::Error(Protocol)),
    ("wrong_content_type", Outcome::Answer, Outcome::Answer),
    ("error_event", Broken(Overloaded, HALF), Outcome::Error(Protocol)),
    ("duplicate_events", SomeAnswer, Outcome::Error(Protocol)),
    ("out_of_order_events", SomeAnswer, Outcome::Error(Protocol)),
    ("giant_event,bytes=100000", Outcome::Answer, Outcome::Error(Protocol)),
    ("invalid_utf8", Broken(Protocol, HALF), Outcome::Error(Protocol)),
    ("reset", Broken(Network, HALF), Outcome::Error(Network)),
];

/// Long enough for a busy machine, short enough for a test: only faults that stay silent forever wait this long.
const SILENCE: Duration = Duration::from_millis(1500);

async fn ask(model: &Model, streaming: bool) -> Result<Answer, Error> {
    if streaming { model.stream(PROMPT).await?.finish().await } else { model.ask(PROMPT).await }
}

fn outcome(result: &Result<Answer, Error>, expected: Outcome) -> Outcome {
    match result {
        Ok(answer) if expected != SomeAnswer && answer.text() == WHOLE => Outcome::Answer,
        Ok(_) => SomeAnswer,
        Err(error) => match error.partial() {
            None => Outcome::Error(error.kind()),
            Some(partial) => {
                assert_eq!(partial.finish_reason, FinishReason::Error);
                let text = [HALF, MOST, WHOLE].into_iter().find(|text| *text == partial.text());
                Broken(error.kind(), text.expect("what had arrived is the beginning of the answer"))
            }
        },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_what_it_is() {
    let sim = std::sync::Arc::new(Sim::start().await.unwrap());
    let mut running = tokio::task::JoinSet::new();
    for (fault, streamed, whole) in FAULTS {
        for name in support::MODELS {
            for (streaming, expected) in [(true, streamed), (false, whole)] {
                let client = support::builder(&sim)
                    .retry(Retry::never())
                    .timeouts(Timeouts::default().head(SILENCE).first_event(SILENCE).idle(SILENCE))
                    .build()
                    .unwrap();
                let expected = match expected {
                    Broken(kind, HALF) if name.starts_with("google:") => Broken(kind, MOST),
                    expected => expected,
                };
                let mark = format!("{fault} {name} {streaming}");
                let model = client.model(name).unwrap().header("x-sim-fault", fault).header("x-mark", &mark);
                running.spawn(async move {
                    let asked = tokio::time::timeout(Duration::from_secs(30), ask(&model, streaming)).await;
                    let result = asked.unwrap_or_else(|_| panic!("{mark} hangs"));
                    let told = result.as_ref().err().map(ToString::to_string);
                    assert_eq!(outcome(&result, expected), expected, "{mark}: {told:?}");
                    if fault.starts_with("status=429") {
                        let error = result.unwrap_err();
                        assert_eq!(error.retry_after(), Some(Duration::from_secs(2)), "{mark}");
                    }
                    mark
                });
            }
        }
    }
    let mut marks = Vec::new();
    while let Some(mark) = running.join_next().await {
        marks.push(mark.unwrap());
    }
    let requests = sim.requests();
    assert_eq!(requests.len(), marks.len(), "nothing is sent twice");
    for mark in marks {
        let sent = requests.iter().filter(|request| request.headers.contains(&("x-mark".to_owned(), mark.clone())));
        assert_eq!(sent.count(), 1, "{mark}");
    }
    support::until_quiet(&sim).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_cannot_have_been_paid_for_is_tried_again() {
    // What happens to the first request, and whether it is retried, streamed and not.
    for (fault, streamed, whole) in [
        ("status=400", false, false),
        ("status=401", false, false),
        ("status=429,retry_after_ms=0", true, true),
        ("status=500", true, true),
        ("status=529", true, true),
        ("status=408", false, false),
        ("cut_before_headers", false, false),
        ("cut_mid_header", false, false),
        ("cut_mid_event", false, false),
        ("cut_before_end", false, false),
        ("end_without_end", false, false),
        ("malformed_json", false, false),
        ("error_event", false, false),
        ("reset", false, false),
    ] {
        for name in support::MODELS {
            for (streaming, again) in [(true, streamed), (false, whole)] {
                let mut config = Config::default();
                let fault_rule = FaultRule { fault: fault.parse::<Fault>().unwrap(), rate: None, nth: Some(1) };
                config.faults = vec![fault_rule];
                let sim = Sim::with(config).await.unwrap();
                let retry = Retry::default().first_wait(Duration::ZERO);
                let model = support::builder(&sim).retry(retry).build().unwrap().model(name).unwrap();
                let result = ask(&model, streaming).await;
                let sent = sim.requests().len();
                assert_eq!((result.is_ok(), sent), (again, if again { 2 } else { 1 }), "{fault} {name} {streaming}");
            }
        }
    }
}

#[tokio::test]
async fn an_event_without_end_is_given_up_at_the_limit() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).retry(Retry::never()).build().unwrap();
    let model = client.model("deepseek:deepseek-chat").unwrap().header("x-sim-fault", "giant_event,bytes=68000000");
    let error = ask(&model, true).await.unwrap_err();
    assert_eq!((error.kind(), error.partial().unwrap().text().as_str()), (Protocol, HALF), "{error}");
    drop((client, model));
    support::until_quiet(&sim).await;
}

#[tokio::test]
async fn a_provider_that_is_away_for_a_moment_is_found_again() {
    let sim = Sim::start().await.unwrap();
    let client =
        support::builder(&sim).retry(Retry::default().attempts(8).first_wait(Duration::from_millis(50))).build();
    let model = client.unwrap().model("anthropic:claude-sonnet-4-5").unwrap();
    let http = ikigai::transport::Http::builder().no_proxy().build().unwrap();
    let refuse = http::Request::post(format!("{}/_sim/refuse", sim.url()))
        .header("authorization", format!("Bearer {}", sim.token()))
        .body(r#"{"ms": 300}"#.into())
        .unwrap();
    ikigai::transport::Transport::send(&http, refuse).await.unwrap();
    let answer = model.ask(PROMPT).await.unwrap();
    assert_eq!(answer.text(), WHOLE);
}
