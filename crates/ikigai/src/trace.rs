//! Spans and metrics, named after OpenTelemetry's conventions for generative AI.
//!
//! There is one span for each request to a model, including all attempts: `gen_ai.chat` under the target `ikigai`; one
//! for each tool call, `gen_ai.execute_tool`; one for embeddings, `gen_ai.embeddings`; one for pictures, speech and
//! transcripts, `gen_ai.generate_content`. Metrics are events under the target `ikigai::metrics`, in the form that the
//! metrics layer of `tracing-opentelemetry` reads. Message content is left out of both unless
//! [`ClientBuilder::content_in_traces`](crate::ClientBuilder::content_in_traces) asks for it.

use std::time::Duration;

use ikigai_core::{ModelName, OutputFormat, Request, ToolCall, Usage};
use tracing::field::Empty;
use tracing::{Level, Span};

use crate::answer::Step;
use crate::call::Prepared;
use crate::client::Client;
use crate::error::{Attempt, Error};
use crate::tools::Output;
use crate::upstream::Upstream;
use crate::verbs::Embeddings;

/// The conventions' name for generating anything but a chat answer.
const MEDIA: &str = "generate_content";

/// The conventions' names for providers, where they differ from the id.
const PROVIDERS: [(&str, &str); 11] = [
    ("azure", "azure.ai.openai"),
    ("azure-cognitive-services", "azure.ai.openai"),
    ("bedrock", "aws.bedrock"),
    ("bedrock-converse", "aws.bedrock"),
    ("google", "gcp.gemini"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("vertex", "gcp.vertex_ai"),
    ("vertex-anthropic", "gcp.vertex_ai"),
    ("xai", "x_ai"),
    ("ibm", "ibm.watsonx.ai"),
];

fn provider(id: &str) -> &str {
    PROVIDERS.iter().find(|(own, _)| *own == id).map_or(id, |(_, name)| name)
}

/// Returns the span of one request.
pub(crate) fn span(client: &Client, prepared: &Prepared, request: &Request) -> Span {
    let (upstream, name) = (&prepared.upstream, prepared.upstream.model());
    let (host, port) = upstream.host().unzip();
    let json = matches!(request.output_format, Some(OutputFormat::Json | OutputFormat::JsonSchema(_)));
    let span = tracing::info_span!(
        target: "ikigai",
        "gen_ai.chat",
        otel.name = format!("chat {}", name.id),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider(&name.provider),
        gen_ai.request.model = name.id,
        gen_ai.request.max_tokens = request.max_output_tokens,
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.top_p = request.top_p,
        gen_ai.request.top_k = request.top_k,
        gen_ai.request.frequency_penalty = request.frequency_penalty,
        gen_ai.request.presence_penalty = request.presence_penalty,
        gen_ai.request.seed = request.seed,
        gen_ai.request.stream = request.stream,
        gen_ai.output.type = if json { "json" } else { "text" },
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        error.type = Empty,
        server.address = host,
        server.port = port,
        ikigai.dialect = upstream.dialect().as_str(),
        ikigai.losses = prepared.losses.len(),
    );
    if client.content_in_traces() && !span.is_disabled() {
        span.record("gen_ai.input.messages", serde_json::to_string(&request.messages).unwrap_or_default());
    }
    span
}

/// Warns that a key is sent where anyone on the way can read it.
pub(crate) fn in_the_clear(provider: &str, host: &str) {
    tracing::warn!(
        target: "ikigai",
        { provider, server.address = host },
        "a key is sent over http:// to another machine, where anyone on the way can read it; use https://"
    );
}

/// Reports a failed attempt.
pub(crate) fn attempt(attempt: &Attempt, made: u32, most: u32) {
    let kind = attempt.kind.as_str();
    match attempt.waited {
        Some(wait) => {
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(
                target: "ikigai",
                { error.type = kind, status = attempt.status, attempt = made, of = most, wait_ms },
                "a request failed and is being retried"
            );
        }
        None => tracing::debug!(
            target: "ikigai",
            { error.type = kind, status = attempt.status, attempt = made, of = most },
            "a request failed"
        ),
    }
}

/// Records an answered request.
pub(crate) fn answered(span: &Span, step: &Step, client: &Client, took: Duration) {
    let response = &step.response;
    if !span.is_disabled() {
        if let Some(id) = &response.id {
            span.record("gen_ai.response.id", id);
        }
        span.record("gen_ai.response.model", &response.model);
        span.record("gen_ai.response.finish_reasons", response.finish_reason.as_str());
        if let Some(usage) = &response.usage {
            span.record("gen_ai.usage.input_tokens", usage.prompt_tokens());
            span.record("gen_ai.usage.output_tokens", usage.completion_tokens());
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cache_read_tokens);
            span.record("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens);
        }
        if client.content_in_traces() {
            span.record("gen_ai.output.messages", serde_json::to_string(&response.content).unwrap_or_default());
        }
    }
    let (name, model) = (provider(&step.model.provider), step.model.id.as_str());
    if let Some(usage) = &response.usage {
        for (kind, tokens) in [("input", usage.prompt_tokens()), ("output", usage.completion_tokens())] {
            tracing::event!(
                target: "ikigai::metrics",
                Level::TRACE,
                histogram.gen_ai.client.token.usage = tokens,
                gen_ai.token.type = kind,
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = name,
                gen_ai.request.model = model,
                gen_ai.response.model = response.model,
            );
        }
    }
    tracing::event!(
        target: "ikigai::metrics",
        Level::TRACE,
        histogram.gen_ai.client.operation.duration = took.as_secs_f64(),
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = name,
        gen_ai.request.model = model,
        gen_ai.response.model = response.model,
    );
}

/// Records that there will be no answer.
pub(crate) fn failed(span: &Span, error: &Error, took: Duration) {
    span.record("error.type", error.kind().as_str());
    span.record("otel.status_code", "ERROR");
    if let Some(model) = error.model() {
        tracing::event!(
            target: "ikigai::metrics",
            Level::TRACE,
            histogram.gen_ai.client.operation.duration = took.as_secs_f64(),
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider(&model.provider),
            gen_ai.request.model = model.id,
            error.type = error.kind().as_str(),
        );
    }
}

/// Returns the span of one tool call.
pub(crate) fn tool(call: &ToolCall, with_content: bool) -> Span {
    let span = tracing::info_span!(
        target: "ikigai",
        "gen_ai.execute_tool",
        otel.name = format!("execute_tool {}", call.name),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        error.type = Empty,
    );
    if with_content && !span.is_disabled() {
        span.record("gen_ai.tool.call.arguments", call.arguments.text());
    }
    span
}

/// Records the result of a tool.
pub(crate) fn tool_done(span: &Span, output: &Output, with_content: bool) {
    if output.is_error {
        span.record("error.type", "tool_error");
        span.record("otel.status_code", "ERROR");
    }
    if with_content && !span.is_disabled() {
        span.record("gen_ai.tool.call.result", serde_json::to_string(&output.content).unwrap_or_default());
    }
}

/// Returns the span of an embeddings request.
pub(crate) fn embeddings(upstream: &Upstream) -> Span {
    let (name, (host, port)) = (upstream.model(), upstream.host().unzip());
    tracing::info_span!(
        target: "ikigai",
        "gen_ai.embeddings",
        otel.name = format!("embeddings {}", name.id),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "embeddings",
        gen_ai.provider.name = provider(&name.provider),
        gen_ai.request.model = name.id,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.embeddings.dimension.count = Empty,
        error.type = Empty,
        server.address = host,
        server.port = port,
    )
}

/// Records the outcome of an embeddings request.
pub(crate) fn embedded(span: &Span, name: &ModelName, outcome: &Result<Embeddings, Error>, took: Duration) {
    if let Some(vector) = outcome.as_ref().ok().and_then(|embeddings| embeddings.vectors.first()) {
        span.record("gen_ai.embeddings.dimension.count", vector.len());
    }
    let usage = outcome.as_ref().map(|embeddings| embeddings.usage.as_ref());
    finished(span, "embeddings", name, usage, took);
}

/// Returns the span of a request for other output than an answer: `image`, `speech` or `text`.
pub(crate) fn media(upstream: &Upstream, output: &str) -> Span {
    let (name, (host, port)) = (upstream.model(), upstream.host().unzip());
    tracing::info_span!(
        target: "ikigai",
        "gen_ai.generate_content",
        otel.name = format!("{MEDIA} {}", name.id),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = MEDIA,
        gen_ai.provider.name = provider(&name.provider),
        gen_ai.request.model = name.id,
        gen_ai.output.type = output,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty,
        server.address = host,
        server.port = port,
    )
}

/// Records the outcome of such a request.
pub(crate) fn made(span: &Span, name: &ModelName, outcome: Result<Option<&Usage>, &Error>, took: Duration) {
    finished(span, MEDIA, name, outcome, took);
}

/// Records the end of an operation that is not a chat: its usage and duration, or its failure.
fn finished(span: &Span, operation: &str, name: &ModelName, outcome: Result<Option<&Usage>, &Error>, took: Duration) {
    let (provider, model, took) = (provider(&name.provider), name.id.as_str(), took.as_secs_f64());
    let usage = match outcome {
        Ok(usage) => usage,
        Err(error) => {
            span.record("error.type", error.kind().as_str());
            span.record("otel.status_code", "ERROR");
            tracing::event!(
                target: "ikigai::metrics",
                Level::TRACE,
                histogram.gen_ai.client.operation.duration = took,
                gen_ai.operation.name = operation,
                gen_ai.provider.name = provider,
                gen_ai.request.model = model,
                error.type = error.kind().as_str(),
            );
            return;
        }
    };
    if let Some(usage) = usage {
        span.record("gen_ai.usage.input_tokens", usage.prompt_tokens());
        span.record("gen_ai.usage.output_tokens", usage.completion_tokens());
        let written = ("output", usage.completion_tokens());
        let counts =
            [("input", usage.prompt_tokens())].into_iter().chain(Some(written).filter(|(_, count)| *count > 0));
        for (kind, tokens) in counts {
            tracing::event!(
                target: "ikigai::metrics",
                Level::TRACE,
                histogram.gen_ai.client.token.usage = tokens,
                gen_ai.token.type = kind,
                gen_ai.operation.name = operation,
                gen_ai.provider.name = provider,
                gen_ai.request.model = model,
            );
        }
    }
    tracing::event!(
        target: "ikigai::metrics",
        Level::TRACE,
        histogram.gen_ai.client.operation.duration = took,
        gen_ai.operation.name = operation,
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
    );
}
