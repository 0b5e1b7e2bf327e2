//! One question, one answer.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    println!("{}", ikigai::ask("anthropic:claude-haiku-4-5", "Why is the sky blue?").await?);
    Ok(())
}
