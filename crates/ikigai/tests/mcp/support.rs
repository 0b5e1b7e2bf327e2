//! Helpers for the MCP tests.

use std::path::PathBuf;
use std::time::Duration;

use ikigai::{Answer, Block, Callable, Client, Error, Role, ToolResult};
use ikigai_sim::Sim;

/// Returns the path of the test server: an example of this crate, which cargo puts next to this test's folder.
pub(crate) fn program() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples").join(format!("mcp_test_server{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is not built; run the tests of the whole package: ./test -p ikigai-ai", path.display());
    path
}

/// Returns a model served by a simulator.
pub(crate) async fn model() -> (Sim, ikigai::Model) {
    let sim = Sim::start().await.unwrap();
    let variables = [("ANTHROPIC_API_KEY", "key-a".to_owned()), ("ANTHROPIC_BASE_URL", sim.url())];
    let client = Client::builder()
        .transport(ikigai::transport::Http::builder().no_proxy().build().unwrap())
        .environment(ikigai::config::Environment::of(variables))
        .build()
        .unwrap();
    let model = client.model("anthropic:claude-haiku-4-5").unwrap();
    (sim, model)
}

/// Returns the result of a call that a model makes.
pub(crate) async fn call(tools: &[Callable], said: &str) -> ToolResult {
    result(&asked(tools, said).await.unwrap())
}

pub(crate) async fn asked(tools: &[Callable], said: &str) -> Result<Answer, Error> {
    let (_sim, model) = model().await;
    let model = model.tools(tools.to_vec());
    let asked = model.ask(format!("Call {said}."));
    tokio::time::timeout(Duration::from_secs(30), asked).await.expect("the call hangs")
}

pub(crate) fn result(answer: &Answer) -> ToolResult {
    let blocks =
        answer.messages().iter().filter(|message| message.role == Role::Tool).flat_map(|message| &message.content);
    let mut results = blocks.filter_map(|block| match block {
        Block::ToolResult(result) => Some(result.clone()),
        _ => None,
    });
    results.next().expect("no tool was run")
}

/// Returns the text of a result.
pub(crate) fn text(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(crate) fn names(tools: &[Callable]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool.definition().name()).collect()
}

/// Waits for something that is about to happen.
pub(crate) async fn until(what: &str, happens: impl Fn() -> bool) {
    let waiting = async {
        while !happens() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap_or_else(|_| panic!("{what} does not happen"));
}
