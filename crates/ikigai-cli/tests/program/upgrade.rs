//! What version 0.1.0 wrote: its database and export can still be opened and continued, and return their sealed state.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Home, Simulator};

/// A conversation from version 0.1.0, and the sealed state that it contains, in order.
struct Kept {
    id: &'static str,
    model: &'static str,
    /// State that must be in the next request, byte for byte.
    state: &'static [&'static str],
}

/// Issued by the simulator; a strict simulator accepts no others.
const KEPT: [Kept; 3] = [
    Kept {
        id: "ed6bb4bf",
        model: "anthropic:claude-sonnet-4-5/med",
        state: &["/0m4kF26WKSOhB7I6meG5g==", "/V+N7XPR8mEhPjHg4W/v9Q==", "OYr/3UjvCqZXR8H0rry/Yg=="],
    },
    Kept { id: "823c519d", model: "openai:gpt-5.4/high", state: &["HU+8lPPAWw6KiPoIDS1zVGdwdC01LjQ="] },
    Kept {
        id: "faa63738",
        model: "google:gemini-3-pro-preview/high",
        state: &[
            "BxvCqAsOAmx1ZsYg3oSITmdlbWluaS0zLXByby1wcmV2aWV3",
            "fz6N7nuXx+8m3x4OyiHk6WdlbWluaS0zLXByby1wcmV2aWV3",
        ],
    },
];

/// The token for the simulator's controls.
const TOKEN: &str = "the-token-of-this-test";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-0.1.0").join(name)
}

/// Returns a home in which the simulator is every provider.
fn home(simulator: &Simulator) -> Home {
    let url = simulator.url();
    Home::new()
        .variable("ANTHROPIC_API_KEY", "key")
        .variable("OPENAI_API_KEY", "key")
        .variable("GEMINI_API_KEY", "key")
        .variable("ANTHROPIC_BASE_URL", url.clone())
        .variable("OPENAI_BASE_URL", format!("{url}/v1"))
        .variable("GOOGLE_BASE_URL", format!("{url}/v1beta"))
        .variable("GEMINI_BASE_URL", format!("{url}/v1beta"))
}

/// Returns the body of the last request that the simulator received.
fn last_request(simulator: &Simulator) -> String {
    let url = simulator.url();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    write!(
        stream,
        "GET /_sim/requests HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let received: Value = serde_json::from_str(body).unwrap();
    let last = received.get("requests").and_then(Value::as_array).and_then(|requests| requests.last()).unwrap();
    last.get("body").unwrap().to_string()
}

/// Continues every conversation, and checks what the provider receives.
fn goes_on(home: &Home, simulator: &Simulator) {
    for kept in KEPT {
        let said = home.said(&["ask", "-m", kept.model, "--cid", kept.id, "And what is 3+4?"]);
        assert_eq!((said.code, said.stdout.trim()), (Some(0), "3+4 = 7"), "{}: {}", kept.model, said.stderr);
        let body = last_request(simulator);
        for state in kept.state {
            assert!(body.contains(state), "{} is not sent {state}: {body}", kept.model);
        }
    }
}

#[test]
fn a_database_of_version_0_1_0_opens_and_its_conversations_go_on() {
    let simulator = Simulator::with(&["--token", TOKEN]);
    let home = home(&simulator);
    std::fs::copy(fixture("ikigai.db"), home.path("ikigai.db")).unwrap();
    goes_on(&home, &simulator);
}

#[test]
fn an_export_of_version_0_1_0_comes_in_and_its_conversations_go_on() {
    let simulator = Simulator::with(&["--token", TOKEN]);
    let home = home(&simulator);
    let imported = home.said(&["history", "import", fixture("conversations.jsonl").to_str().unwrap()]);
    assert_eq!((imported.code, imported.stdout.as_str()), (Some(0), "Imported 4 conversations with 26 messages\n"));
    goes_on(&home, &simulator);
}
