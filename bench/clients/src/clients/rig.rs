//! rig.

use futures_util::{Stream, StreamExt as _};
use rig_core::completion::CompletionRequest;
use rig_core::providers::anthropic::AnthropicConfig;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::streaming::{Item, StreamEvent};

use crate::{Came, Dialect, Failure};

pub(crate) async fn ask(dialect: Dialect, address: &str) -> Result<Came, Failure> {
    let request = CompletionRequest::new("Tell me a story.");
    match dialect {
        Dialect::Anthropic => {
            let client = AnthropicConfig::new("key").with_base_url(address).client();
            read(client.completion("claude-sonnet-4-5").stream(request)?).await
        }
        Dialect::OpenaiChat => {
            let client = OpenAIConfig::new("key").with_base_url(format!("{address}/v1")).client();
            read(client.chat("gpt-4.1").stream(request)?).await
        }
        Dialect::OpenaiResponses => Err("rig is asked over Chat Completions and Messages only".into()),
    }
}

async fn read<E: std::error::Error + 'static>(
    mut stream: impl Stream<Item = Result<Item<StreamEvent>, E>> + Unpin,
) -> Result<Came, Failure> {
    let mut came = Came::default();
    while let Some(item) = stream.next().await {
        if let Item::Event(StreamEvent::Text { text, .. }) = item? {
            came.text(&text);
        }
    }
    Ok(came)
}
