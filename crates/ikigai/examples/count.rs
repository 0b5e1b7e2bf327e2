//! How long a prompt is, and which models there are.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let count = ikigai::model("anthropic:claude-haiku-4-5")?.count_tokens("How long is this?").await?;
    println!("{count}");
    let count = ikigai::model("deepseek:deepseek-chat")?.count_tokens("How long is this?").await?;
    println!("{count}");
    let models = ikigai::Client::shared()?.models("anthropic").await?;
    println!("{}", models.iter().any(|model| model.id.starts_with("claude-")));
    Ok(())
}
