//! Turns strings into vectors, and checks which of them are close.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let texts = ["a red apple", "a green apple", "the stock market"];
    let embeddings = ikigai::embed("openai:text-embedding-3-small", texts).await?;
    let [red, green, stocks] = embeddings.vectors.as_slice() else { return Ok(()) };
    let close = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    println!("apples are closer: {}", close(red, green) > close(red, stocks));
    Ok(())
}
