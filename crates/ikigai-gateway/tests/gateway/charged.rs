//! Work that a provider may have done is not requested again, neither by the gateway nor by the client's SDK.

use ikigai::Dialect;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::{House, question, to};

/// The official clients of these follow `x-should-retry`; Gemini's have nothing like it.
const TOLD: [Dialect; 3] = [Dialect::ALL[0], Dialect::ALL[1], Dialect::ALL[2]];

const HASTY: &str = "attempts = 1\ntimeouts.first_byte = 0.4\ntimeouts.idle = 0.3\n";

/// Asks with every client, through and in translation, whole and as a stream. Returns what the clients are told.
async fn told(house: &House, fault: &str, streams: bool) -> Vec<(u16, String, usize)> {
    let mut told = Vec::new();
    for client in TOLD {
        for provider in TOLD {
            house.sim.reset();
            house.fault(fault);
            let (path, body) = question(client, &to(provider), "Count from 1 to 40.", streams);
            let answer = house.post(&path, &body).await;
            let case = (answer.status, answer.header("x-should-retry").to_owned(), house.sim.requests().len());
            if !told.contains(&case) {
                told.push(case);
            }
        }
    }
    told
}

fn case(status: u16, should_retry: &str) -> (u16, String, usize) {
    (status, should_retry.to_owned(), 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_been_paid_for_is_not_asked_for_again_by_clients() {
    let house = House::new(HASTY).await;
    for streams in [false, true] {
        for (fault, status) in [
            ("cut_before_headers", 502),
            ("slow_first_byte,ms=60000", 504),
            ("status=408", 504),
            ("status=504", 504),
            ("status=524", 500),
        ] {
            let told = told(&house, fault, streams).await;
            assert!(told.iter().all(|told| told.1 == "false" && told.2 == 1), "{fault}, streams: {streams}: {told:?}");
            assert!(told.contains(&case(status, "false")), "{fault}, streams: {streams}: {told:?}");
        }
    }
    for fault in ["reset", "cut_before_end", "stall", "malformed_json"] {
        let told = told(&house, fault, false).await;
        assert!(told.iter().all(|told| told.1 == "false" && told.2 == 1), "{fault}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_may_be_asked_for_again_by_clients() {
    let house = House::new(HASTY).await;
    for streams in [false, true] {
        for fault in ["status=429,retry_after_ms=5", "status=500", "status=503", "status=529", "status=400"] {
            let told = told(&house, fault, streams).await;
            assert!(told.iter().all(|told| told.1 != "false" && told.2 == 1), "{fault}, streams: {streams}: {told:?}");
        }
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let house =
        House::with(&format!("attempts = 1\n[providers.mine]\nbase_url = \"http://{nobody}\"\nauth = \"none\"")).await;
    for client in TOLD {
        let (path, body) = question(client, "mine:m", "Hello", false);
        let answer = house.post(&path, &body).await;
        assert_eq!((answer.status >= 500, answer.header("x-should-retry")), (true, ""), "{client}: {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_first_model_may_have_done_counts_after_a_fallback_too() {
    let target = |dialect: Dialect| {
        format!("{{ model = \"sim:{}\", dialect = \"{dialect}\" }}", crate::support::model_of(dialect))
    };
    for client in TOLD {
        for second in TOLD {
            let targets = format!("targets = [{}, {}]", target(client), target(second));
            let house = House::with(&format!("{HASTY}[models.both]\n{targets}")).await;
            house.fault_at(1, "cut_before_headers");
            house.fault_at(2, "status=429");
            let (path, body) = question(client, "both", "Hello", false);
            let answer = house.post(&path, &body).await;
            let told = (answer.status, answer.header("x-should-retry").to_owned(), house.sim.requests().len());
            assert_eq!(told, (429, "false".to_owned(), 2), "{client}, then {second}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_and_counts_are_work_as_well() {
    let page = "<html>";
    let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}", page.len());
    for answer in ["", answer.leak()] {
        let url = crate::attacks::provider(answer).await;
        let providers = ["openai-chat", "gemini", "anthropic"].map(|dialect| {
            format!("[providers.{dialect}-1]\nbase_url = \"{url}\"\nauth = \"none\"\ndialect = \"{dialect}\"\n")
        });
        let house = House::with(&format!("{HASTY}{}", providers.concat())).await;
        for (path, body) in [
            ("/v1/embeddings", json!({"model": "openai-chat-1:m", "input": "Hi"})),
            ("/v1/embeddings", json!({"model": "gemini-1:m", "input": "Hi"})),
            (
                "/v1/messages/count_tokens",
                json!({"model": "anthropic-1:m", "messages": [{"role": "user", "content": "Hi"}]}),
            ),
            (
                "/v1/messages/count_tokens",
                json!({"model": "gemini-1:m", "messages": [{"role": "user", "content": "Hi"}]}),
            ),
        ] {
            let answer = house.post(path, &body).await;
            let told = (answer.status >= 500, answer.header("x-should-retry"));
            assert_eq!(told, (true, "false"), "{path} {body}: {}", answer.text());
        }
    }
}
