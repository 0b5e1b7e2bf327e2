//! Observes what a client does, for logs and budgets.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::{Client, Error, Hook, ModelName, Request, Step};

struct Log;

impl Hook for Log {
    fn before_request(&self, model: &ModelName, request: &mut Request) -> Result<(), String> {
        println!("asking {model}, {} messages", request.messages.len());
        Ok(())
    }

    fn after_response(&self, outcome: Result<&Step, &Error>) {
        match outcome {
            Ok(step) => println!("answered: {}", step.response().finish_reason),
            Err(error) => println!("failed: {}", error.kind()),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::builder().hook(Log).build()?;
    client.ask("anthropic:claude-haiku-4-5", "say hello").await?;
    Ok(())
}
