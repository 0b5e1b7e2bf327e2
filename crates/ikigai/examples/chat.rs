//! A conversation that moves from one provider to another, with its history and its reasoning state.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let mut chat = ikigai::model("openai:gpt-5.4")?.chat();
    chat.say("My favourite number is 7.").await?;
    let answer = chat.switch("anthropic:claude-sonnet-4-5/med")?.say("What is my favourite number?").await?;
    println!("{answer}");
    Ok(())
}
