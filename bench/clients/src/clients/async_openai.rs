//! async-openai.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionRequestUserMessageArgs, CreateChatCompletionRequestArgs};
use futures_util::StreamExt as _;

use crate::{Came, Dialect, Failure};

pub(crate) async fn ask(dialect: Dialect, address: &str) -> Result<Came, Failure> {
    match dialect {
        Dialect::OpenaiChat => {}
        Dialect::Anthropic | Dialect::OpenaiResponses => {
            return Err("async-openai is asked over Chat Completions only".into());
        }
    }
    let config = OpenAIConfig::new().with_api_base(format!("{address}/v1")).with_api_key("key");
    let client = Client::with_config(config);
    let message = ChatCompletionRequestUserMessageArgs::default().content("Tell me a story.").build()?;
    let request = CreateChatCompletionRequestArgs::default().model("gpt-4.1").messages([message.into()]).build()?;
    let mut came = Came::default();
    let mut stream = client.chat().create_stream(request).await?;
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            if let Some(text) = choice.delta.content {
                came.text(&text);
            }
        }
    }
    Ok(came)
}
