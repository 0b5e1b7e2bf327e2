//! Servers that try to fill the memory or to keep the client busy.

use std::collections::HashSet;
use std::time::Duration;

use ikigai::ErrorKind;
use ikigai::mcp::{Connection, Server};
use pretty_assertions::assert_eq;

use crate::support::{names, program};

async fn connected(mode: &str) -> Connection {
    Server::command(program(), [mode]).name("box").connect().await.unwrap()
}

#[tokio::test]
async fn a_list_of_tools_has_an_end_in_every_way() {
    for (mode, why) in [
        ("empty pages", "has an endless list of tools"),
        ("long pages", "has a list of tools that cannot be read: it is longer than 16777216 bytes"),
        ("too many", "has more than 10000 tools"),
    ] {
        let error = connected(mode).await.tools().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{mode}: {error}");
        assert!(error.to_string().contains(why), "{mode}: {error}");
    }
}

#[tokio::test]
async fn thousands_of_tools_with_the_same_name_have_names_of_their_own() {
    let tools = connected("alike").await.tools().await.unwrap();
    let all: HashSet<&str> = names(&tools).into_iter().collect();
    assert_eq!((tools.len(), all.len()), (2_000, 2_000));
}

#[tokio::test]
async fn a_server_cannot_have_its_list_of_tools_kept() {
    let server = connected("kept pages").await;
    for expected in ["box__t1", "box__t2"] {
        assert_eq!(names(&server.tools().await.unwrap()), [expected]);
    }
}

#[tokio::test]
async fn a_name_of_a_server_has_an_end() {
    let server = Server::command(program(), ["named"]).connect().await.unwrap();
    assert_eq!(server.name().len(), 100);
}

/// The server's last line says how often it has asked: as often as the pipes between hold, and no more.
#[tokio::test]
async fn a_server_that_asks_forever_is_not_read_forever() {
    let server = connected("asking").await;
    server.tools().await.unwrap();
    let asked = || server.log().pop().and_then(|line| line.parse::<u64>().ok()).unwrap_or_default();
    // It is full of questions when nothing more happens for a while.
    let mut before = 0;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = asked();
        assert!(now < 50_000, "it is read on and on");
        if now > 0 && now == before {
            assert!(server.is_connected());
            return;
        }
        before = now;
    }
    panic!("it goes on asking: {before}");
}
