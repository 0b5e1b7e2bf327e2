//! The provider searches the web, and the answer cites its sources.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let model = ikigai::model("anthropic:claude-sonnet-4-5")?.web_search();
    let answer = model.ask("How many people live in Oslo?").await?;
    println!("{answer}");
    for (passage, citation) in answer.citations() {
        println!("“{passage}” rests on {}", citation.source.as_url().unwrap_or("a file"));
    }
    for source in answer.sources() {
        println!("- {}", source.title.or(source.url).unwrap_or_default());
    }
    Ok(())
}
