//! A gateway in front of a simulator, and a client that sends plain bytes.

use bytes::Bytes;
use http::{HeaderMap, Request};
use ikigai::Dialect;
use ikigai::config::Environment;
use ikigai::transport::{Http, Transport as _};
use ikigai_gateway::{Config, Gateway, Setup};
use ikigai_sim::{FaultRule, Sim};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "the-key-of-a-client-in-tests";

/// A gateway in front of a simulator.
pub(crate) struct House {
    pub(crate) sim: Sim,
    pub(crate) gateway: Gateway,
    http: Http,
}

/// An answer that was read to its end, or to where it broke off.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The connection was closed before the answer was complete.
    pub(crate) broken: bool,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The simulator's model for each dialect.
pub(crate) fn model_of(dialect: Dialect) -> &'static str {
    match dialect.as_str() {
        "anthropic" => "claude-sonnet-4-5",
        "openai-chat" => "gpt-5-mini",
        "openai-responses" => "gpt-5.4",
        _ => "gemini-2.5-pro",
    }
}

/// The name of the model for this dialect.
pub(crate) fn to(dialect: Dialect) -> String {
    format!("to-{dialect}")
}

/// A model for each dialect of the simulator: `to-anthropic` and so on.
pub(crate) fn models() -> String {
    let entry = |dialect: Dialect| {
        let model = model_of(dialect);
        format!("[models.to-{dialect}]\ntargets = [{{ model = \"sim:{model}\", dialect = \"{dialect}\" }}]\n")
    };
    Dialect::ALL.map(entry).concat()
}

impl House {
    /// Starts a gateway with the models of [`models`], and with this at the head of the configuration.
    pub(crate) async fn new(head: &str) -> Self {
        House::with(&format!("{head}\n{}", models())).await
    }

    pub(crate) async fn with(rest: &str) -> Self {
        let sim = Sim::start().await.unwrap();
        let setup = Setup::new(environment()).unwrap().simulator(sim.url());
        let gateway = Gateway::start(config(rest), setup).await.unwrap();
        House { sim, gateway, http: Http::builder().no_proxy().build().unwrap() }
    }

    /// Makes every request at the provider fail in this way.
    pub(crate) fn fault(&self, fault: &str) {
        self.sim.fault(FaultRule { fault: fault.parse().unwrap(), rate: None, nth: None });
    }

    /// Makes one of the requests fail, counted from 1.
    pub(crate) fn fault_at(&self, nth: u64, fault: &str) {
        self.sim.fault(FaultRule { fault: fault.parse().unwrap(), rate: None, nth: Some(nth) });
    }

    /// Posts JSON with the client's key.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("authorization", &format!("Bearer {KEY}"))], body.to_string()).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.gateway.url()));
        let body = body.into();
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.http.send(request.body(body).unwrap()).await.unwrap();
        let (parts, mut body) = response.into_parts();
        let (mut read, mut broken) = (Vec::new(), false);
        while let Some(piece) = body.next().await {
            match piece {
                Ok(piece) => read.extend_from_slice(&piece),
                Err(_) => broken = true,
            }
        }
        Answer { status: parts.status.as_u16(), headers: parts.headers, body: read.into(), broken }
    }
}

pub(crate) fn environment() -> Environment {
    Environment::of([("CLIENT_KEY", KEY)])
}

pub(crate) fn config(rest: &str) -> Config {
    let text = format!("listen = \"127.0.0.1:0\"\nauth.keys = [\"env:CLIENT_KEY\"]\n{rest}");
    Config::read("test.toml", &text, &environment()).unwrap()
}

/// A question as a client of a dialect asks it: path and body.
pub(crate) fn question(dialect: Dialect, model: &str, text: &str, streams: bool) -> (String, Value) {
    match dialect.as_str() {
        "anthropic" => (
            "/v1/messages".to_owned(),
            json!({"model": model, "max_tokens": 1000, "stream": streams, "messages": [{"role": "user", "content": text}]}),
        ),
        "openai-chat" => {
            let mut body = json!({"model": model, "stream": streams, "messages": [{"role": "user", "content": text}]});
            if streams {
                body["stream_options"] = json!({"include_usage": true});
            }
            ("/v1/chat/completions".to_owned(), body)
        }
        "openai-responses" => {
            ("/v1/responses".to_owned(), json!({"model": model, "stream": streams, "store": false, "input": text}))
        }
        _ => {
            let method = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let path = format!("/v1beta/models/{model}:{method}");
            (path, json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}))
        }
    }
}
