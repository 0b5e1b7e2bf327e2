//! What can go wrong, and what to do about it.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::ErrorKind;

#[tokio::main]
async fn main() {
    let names =
        ["anthropic:claude-haiku-4-5", "cluade-haiku-4-5", "mistral:mistral-large-latest", "openai:no-such-model"];
    for name in names {
        match ikigai::ask(name, "say hello").await {
            Ok(answer) => println!("{answer}"),
            Err(error) => match error.kind() {
                ErrorKind::Auth => println!("no key: {error}"),
                ErrorKind::NotFound => println!("no model: {error}"),
                _ if error.is_retryable() => println!("later, in {:?}: {error}", error.retry_after()),
                _ => println!("{error}"),
            },
        }
    }
}
