//! Everything that goes wrong at a provider reaches the client as an error: never as a short answer, never as silence.

use std::time::{Duration, Instant};

use ikigai::{Dialect, ErrorKind};

use crate::answers::read;
use crate::support::{House, question, to};

/// What goes wrong, and whether an answer may still be complete.
const FAULTS: [(&str, bool); 18] = [
    ("status=400", false),
    ("status=401", false),
    ("status=403", false),
    ("status=404", false),
    ("status=429,retry_after_ms=5", false),
    ("status=500", false),
    ("status=529", false),
    ("slow_first_byte,ms=50", true),
    ("slow_drip,ms=2", true),
    ("stall", false),
    ("cut_before_headers", false),
    ("cut_mid_header", false),
    ("cut_mid_event", false),
    ("cut_before_end", false),
    ("end_without_end", false),
    ("malformed_json", false),
    ("error_event", false),
    ("reset", false),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_an_error_in_every_dialect() {
    let head = "attempts = 1\ntimeouts.idle = 0.3\ntimeouts.first_byte = 0.6\n";
    let house = House::new(head).await;
    for (fault, may_be_complete) in FAULTS {
        for client in Dialect::ALL {
            for provider in [client, other(client)] {
                for streams in [false, true] {
                    let case = format!("{fault}, {client} to {provider}, streams: {streams}");
                    house.sim.reset();
                    house.fault(fault);
                    let (path, body) = question(client, &to(provider), "Count from 1 to 40.", streams);
                    let began = Instant::now();
                    let answer = house.post(&path, &body).await;
                    assert!(began.elapsed() < Duration::from_secs(20), "{case}: it hangs");
                    let response = read(client, &answer, streams);
                    match response {
                        Ok(response) => {
                            // If the fault is about the stream's end, the whole answer may arrive before it.
                            let whole = response.text().contains("39") || may_be_complete;
                            let harmless = !streams && matches!(fault, "error_event" | "end_without_end");
                            assert!(whole || harmless, "{case}: cut in silence: {}", answer.text());
                            assert!(may_be_complete || harmless, "{case}: taken for complete: {}", answer.text());
                        }
                        Err(error) => {
                            assert!(!may_be_complete, "{case}: {error}");
                            assert!(!answer.broken, "{case}: the connection broke: {}", answer.text());
                            assert_ne!(error.kind, ErrorKind::Cancelled, "{case}");
                        }
                    }
                }
            }
        }
    }
    // Nothing stays open towards the provider except connections waiting to be used again.
    let mut left = 0;
    for _ in 0..100 {
        left = house.sim.connections();
        if left <= 8 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{left} connections are left open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_answer_that_is_not_json_does_not_pass_through() {
    let house = House::new("attempts = 1\n").await;
    for fault in ["malformed_json", "invalid_utf8", "out_of_order_events", "giant_event,bytes=9"] {
        for client in Dialect::ALL {
            house.sim.reset();
            house.fault(fault);
            let (path, body) = question(client, &to(client), "Count from 1 to 40.", false);
            let answer = house.post(&path, &body).await;
            let is_json = serde_json::from_slice::<serde_json::Value>(&answer.body).is_ok();
            assert!(is_json, "{fault}, {client}: {} {}", answer.status, answer.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_failure_of_a_stream_that_passed_through_has_the_id_of_its_answer() {
    let house = House::new("attempts = 1\n").await;
    house.fault("cut_before_end");
    let responses = Dialect::ALL[2];
    let (path, body) = question(responses, &to(responses), "Count from 1 to 40.", true);
    let answer = house.post(&path, &body).await;
    let events: Vec<serde_json::Value> = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    let (first, last) = (events.first().unwrap(), events.last().unwrap());
    assert_eq!(last["type"], "response.failed", "{}", answer.text());
    assert_eq!(last["response"]["id"], first["response"]["id"]);
    assert_eq!(last["response"]["model"], first["response"]["model"]);
}

fn other(dialect: Dialect) -> Dialect {
    let place = Dialect::ALL.iter().position(|one| *one == dialect).unwrap();
    Dialect::ALL[(place + 1) % Dialect::ALL.len()]
}
