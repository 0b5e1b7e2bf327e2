//! Asks another model when the first one cannot answer.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    // There is no key for the first one in this example.
    let model = ikigai::model("mistral:mistral-large-latest")?.fallback("anthropic:claude-haiku-4-5")?;
    let answer = model.ask("say hello").await?;
    println!("{}: {answer}", answer.model());
    for attempt in answer.attempts() {
        println!("before that: {} ({})", attempt.model, attempt.kind);
    }
    Ok(())
}
