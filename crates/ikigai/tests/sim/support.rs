//! Helpers for tests against the simulator.

use std::time::Duration;

use ikigai::config::Environment;
use ikigai::transport::Http;
use ikigai::{Client, ClientBuilder};
use ikigai_sim::Sim;

/// One model per dialect.
pub(crate) const MODELS: [&str; 4] =
    ["anthropic:claude-sonnet-4-5", "openai:gpt-5.4", "google:gemini-2.5-flash", "deepseek:deepseek-chat"];

/// Returns variables that send every provider's requests to a simulator.
pub(crate) fn variables(sim: &Sim) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_API_KEY", "key-a".to_owned()),
        ("ANTHROPIC_BASE_URL", sim.url()),
        ("OPENAI_API_KEY", "key-o".to_owned()),
        ("OPENAI_BASE_URL", format!("{}/v1", sim.url())),
        ("GEMINI_API_KEY", "key-g".to_owned()),
        ("GEMINI_BASE_URL", sim.url()),
        ("DEEPSEEK_API_KEY", "key-d".to_owned()),
        ("DEEPSEEK_BASE_URL", format!("{}/v1", sim.url())),
    ]
}

/// Returns a builder for a client of a simulator.
pub(crate) fn builder(sim: &Sim) -> ClientBuilder {
    Client::builder()
        .transport(Http::builder().no_proxy().build().unwrap())
        .environment(Environment::of(variables(sim)))
}

/// Waits until no connection to the simulator is open.
pub(crate) async fn until_quiet(sim: &Sim) {
    let quiet = async {
        while sim.connections() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), quiet).await.expect("connections stay open");
}
