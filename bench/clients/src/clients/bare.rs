//! No client at all: what a program does if it only wants the text.

use std::borrow::Cow;

use serde::Deserialize;

use crate::{Came, Dialect, Failure};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
}

/// An event of the Messages API.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    delta: Option<Piece<'a>>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// An event of the Responses API.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<Cow<'a, str>>,
}

pub(crate) async fn ask(dialect: Dialect, address: &str) -> Result<Came, Failure> {
    const QUESTION: &str = "Tell me a story.";
    let (path, body) = match dialect {
        Dialect::Anthropic => (
            "messages",
            serde_json::json!({"model": "claude-sonnet-4-5", "max_tokens": 64000, "stream": true,
                "messages": [{"role": "user", "content": QUESTION}]}),
        ),
        Dialect::OpenaiChat => (
            "chat/completions",
            serde_json::json!({"model": "gpt-4.1", "stream": true, "messages": [{"role": "user", "content": QUESTION}]}),
        ),
        Dialect::OpenaiResponses => {
            ("responses", serde_json::json!({"model": "gpt-4.1", "stream": true, "input": QUESTION}))
        }
    };
    let request = reqwest::Client::new()
        .post(format!("{address}/v1/{path}"))
        .header("content-type", "application/json")
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", "key")
        .bearer_auth("key")
        .body(body.to_string());
    let mut answer = request.send().await?.error_for_status()?;
    let mut came = Came::default();
    let mut held: Vec<u8> = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        held.extend_from_slice(&piece);
        let mut read = 0;
        while let Some(length) = held[read..].iter().position(|byte| *byte == b'\n') {
            let line = &held[read..read + length];
            read += length + 1;
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            match dialect {
                Dialect::OpenaiChat if data == b"[DONE]" => {}
                Dialect::OpenaiChat => {
                    for choice in serde_json::from_slice::<Chunk<'_>>(data)?.choices {
                        came.text(&choice.delta.content.unwrap_or_default());
                    }
                }
                Dialect::Anthropic => {
                    let piece = serde_json::from_slice::<Event<'_>>(data)?.delta.and_then(|delta| delta.text);
                    came.text(&piece.unwrap_or_default());
                }
                Dialect::OpenaiResponses => {
                    let told: Told<'_> = serde_json::from_slice(data)?;
                    if told.kind == "response.output_text.delta" {
                        came.text(&told.delta.unwrap_or_default());
                    }
                }
            }
        }
        held.drain(..read);
    }
    Ok(came)
}
