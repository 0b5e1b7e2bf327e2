//! Draws a picture.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let drawn = ikigai::model("openai:gpt-image-2")?.draw("a fox in the snow").await?;
    let cost = drawn.cost.map(|cost| cost.total().to_string());
    for image in &drawn.images {
        // Some providers return a URL instead of bytes.
        let Some(bytes) = image.bytes() else { continue };
        let kind = image.media_type.as_deref().unwrap_or("unknown");
        println!("{}: {kind}, {} bytes, {cost:?}", drawn.model, bytes.len());
        std::fs::write("fox.png", bytes)?;
    }
    Ok(())
}
