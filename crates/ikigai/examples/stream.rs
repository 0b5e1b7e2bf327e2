//! An answer as it is being written, then its usage and cost.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let mut stream = ikigai::model("openai:gpt-5.4/high")?.stream("Tell me a story.").await?;
    while let Some(text) = stream.text().await? {
        print!("{text}");
    }
    let answer = stream.finish().await?;
    println!();
    if let (Some(usage), Some(cost)) = (answer.usage(), answer.cost()) {
        println!("{} tokens, {}, {}", usage.total_tokens(), cost.total(), answer.finish_reason());
    }
    Ok(())
}
