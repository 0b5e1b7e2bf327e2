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
                    house.sim.fault(ikigai_sim::FaultRule { fault: fault.parse().unwrap(), rate: None, nth: None });
                    let (path, body) = question(client, &to(provider), "Count from 1 to 40.", streams);
                    let began = Instant::now();
                    let answer = house.post(&path, &body).await;
                    assert!(began.elapsed() < Duration::from_secs(20), "{case}: it hangs");
                    let response = read(client, &answer, streams);
                    match response {
                        Ok(response) => {
                            // The whole answer may have come before the fault, where the fault is about the stream's end.
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
    // Nothing stays open towards the provider but what waits to be used again.
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

fn other(dialect: Dialect) -> Dialect {
    let place = Dialect::ALL.iter().position(|one| *one == dialect).unwrap();
    Dialect::ALL[(place + 1) % Dialect::ALL.len()]
}
