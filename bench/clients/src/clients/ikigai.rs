//! ikigai.

use ikigai::Client;
use ikigai::config::Environment;

use crate::{Came, Dialect, Failure};

pub(crate) async fn ask(dialect: Dialect, address: &str) -> Result<Came, Failure> {
    let client = Client::builder().environment(Environment::of(Vec::<(&str, String)>::new())).build()?;
    let model = match dialect {
        Dialect::Anthropic => client.model("anthropic:claude-sonnet-4-5")?.base_url(address),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            client.model("openai:gpt-4.1")?.base_url(format!("{address}/v1"))
        }
    };
    let model = match dialect {
        Dialect::Anthropic => model.dialect(ikigai::Dialect::Anthropic),
        Dialect::OpenaiChat => model.dialect(ikigai::Dialect::OpenaiChat),
        Dialect::OpenaiResponses => model.dialect(ikigai::Dialect::OpenaiResponses),
    };
    let mut came = Came::default();
    let mut stream = model.key("key").stream("Tell me a story.").await?;
    while let Some(text) = stream.text().await? {
        came.text(&text);
    }
    stream.finish().await?;
    Ok(came)
}
