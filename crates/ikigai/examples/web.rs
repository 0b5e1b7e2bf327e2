//! A web server that streams answers as server-sent events: `cargo run -p ikigai-ai --example web`, then
//! `curl -N -d 'Why is the sky blue?' ADDRESS` as often as you like. All requests share one conversation.
//!
//! A stream locks the conversation until it is read or the browser disconnects; what had arrived by then is kept in it.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use std::future::ready;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{self, Sse};
use axum::{Router, routing::post};
use futures_util::{Stream, TryStreamExt as _};
use ikigai::{Chat, ChatStream, Error, Event};
use tokio::sync::Mutex;

async fn say(
    State(chat): State<Arc<Mutex<Chat>>>,
    said: String,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Error>>>, (StatusCode, String)> {
    let failed = |error: Error| (StatusCode::BAD_GATEWAY, error.to_string());
    let stream = ChatStream::open(chat.lock_owned().await, said).await.map_err(failed)?;
    Ok(Sse::new(stream.try_filter_map(|event| {
        ready(Ok(match event {
            Event::TextDelta { text, .. } => Some(sse::Event::default().data(text)),
            _ => None,
        }))
    })))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chat = ikigai::model("anthropic:claude-haiku-4-5")?.chat();
    let routes = Router::new().route("/", post(say)).with_state(Arc::new(Mutex::new(chat)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, routes).await?)
}
