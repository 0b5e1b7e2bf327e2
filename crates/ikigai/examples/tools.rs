//! A model uses a Rust function. The tool's name and description come from the type of its arguments.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::schemars::{self, JsonSchema};
use serde::Deserialize;

/// Tells the weather in a city.
#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city's name.
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let weather = ikigai::tool(|w: Weather| async move { format!("{}: 4 °C", w.city) });
    let model = ikigai::model("gemini-3-pro")?.tool(weather);
    let answer = model.ask("Check the weather in city=\"Oslo\": what should I wear?").await?;
    println!("{answer}");
    println!("{} steps", answer.steps().count());
    Ok(())
}
