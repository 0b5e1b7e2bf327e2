//! The proxy example, between a client and the simulator.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ikigai::{Client, ErrorKind, Retry};
use ikigai_sim::{Config, Sim};
use pretty_assertions::assert_eq;

use crate::examples::example;
use crate::support;

const MODEL: &str = "anthropic:claude-haiku-4-5";

/// The example in a separate process, until it is dropped.
struct Proxy {
    process: Child,
    url: String,
}

impl Proxy {
    fn start(sim: &Sim, model: &str) -> Self {
        let mut command = Command::new(example("proxy"));
        command.arg(model).env_clear().envs(support::variables(sim)).env("IKIGAI_HOME", "/nowhere");
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_once(" speaks ").expect(&line).0.to_owned();
        Proxy { process, url }
    }

    /// Returns a client of the proxy. The provider does not know the client's key.
    fn client(&self) -> Client {
        let variables = ["ANTHROPIC", "OPENAI"].into_iter().flat_map(|name| {
            [(format!("{name}_BASE_URL"), self.url.clone()), (format!("{name}_API_KEY"), "of-the-client".to_owned())]
        });
        Client::builder()
            .transport(ikigai::transport::Http::builder().no_proxy().build().unwrap())
            .environment(ikigai::config::Environment::of(variables))
            .retry(Retry::never())
            .build()
            .unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_pass_through_in_two_dialects() {
    // The provider knows the proxy's keys, but not the client's.
    let mut config = Config::default();
    config.keys = vec!["key-a".to_owned(), "key-o".to_owned()];
    let sim = Sim::with(config).await.unwrap();
    for name in [MODEL, "openai:gpt-5.4"] {
        let proxy = Proxy::start(&sim, name);
        let model = proxy.client().model(name).unwrap();
        assert_eq!(model.ask("say hello").await.unwrap().text(), "hello");
        let streamed = model.stream("say hello").await.unwrap().finish().await.unwrap();
        assert_eq!(streamed.text(), "hello");
    }
    assert_eq!(sim.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_providers_failure_passes_through_in_its_own_words() {
    let sim = Sim::start().await.unwrap();
    let proxy = Proxy::start(&sim, MODEL);
    let error = proxy.client().ask("anthropic:no-such-model", "Hi").await.unwrap_err();
    let direct = support::builder(&sim).build().unwrap().ask("anthropic:no-such-model", "Hi").await.unwrap_err();
    assert_eq!((error.kind(), error.status(), error.excerpt()), (ErrorKind::NotFound, Some(404), direct.excerpt()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_takes_its_request_with_it() {
    let sim = Sim::start().await.unwrap();
    let proxy = Proxy::start(&sim, MODEL);
    // After the first words, and before the head.
    for slow in ["slow_drip,ms=60000", "slow_first_byte,ms=600000"] {
        let client = proxy.client();
        let model = client.model(MODEL).unwrap().header("x-sim-fault", slow);
        let asking = tokio::spawn(async move {
            let mut stream = model.stream("say one two three").await?;
            while stream.text().await?.is_some() {}
            Ok::<_, ikigai::Error>(())
        });
        let busy = async {
            while sim.connections() == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), busy).await.unwrap();
        assert!(!asking.is_finished());
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        drop(client);
        support::until_quiet(&sim).await;
    }
}
