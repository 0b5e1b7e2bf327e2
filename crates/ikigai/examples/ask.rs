//! One question, one answer: `cargo run -p ikigai-ai --example ask -- [MODEL [QUESTION]]`

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let mut words = std::env::args().skip(1);
    let model = words.next().unwrap_or_else(|| "anthropic:claude-haiku-4-5".to_owned());
    let question = words.next().unwrap_or_else(|| "Why is the sky blue?".to_owned());
    println!("{}", ikigai::ask(&model, question).await?);
    Ok(())
}
