//! genai.

use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};

use crate::{Came, Dialect, Failure};

pub(crate) async fn ask(dialect: Dialect, address: &str) -> Result<Came, Failure> {
    let (adapter, name) = match dialect {
        Dialect::Anthropic => (AdapterKind::Anthropic, "claude-sonnet-4-5"),
        Dialect::OpenaiChat => (AdapterKind::OpenAI, "gpt-4.1"),
        Dialect::OpenaiResponses => (AdapterKind::OpenAIResp, "gpt-4.1"),
    };
    let endpoint = Endpoint::from_owned(format!("{address}/v1/"));
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            let model = ModelIden::new(adapter, target.model.model_name);
            Ok(ServiceTarget { endpoint: endpoint.clone(), auth: AuthData::from_single("key"), model })
        },
    );
    let client = Client::builder().with_service_target_resolver(resolver).build()?;
    let request = ChatRequest::new(vec![ChatMessage::user("Tell me a story.")]);
    let mut came = Came::default();
    let mut stream = client.exec_chat_stream(name, request, None).await?.stream;
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::Chunk(chunk) = event? {
            came.text(&chunk.content);
        }
    }
    Ok(came)
}
