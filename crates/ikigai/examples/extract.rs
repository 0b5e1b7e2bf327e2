//! An answer as a Rust value.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::schemars::{self, JsonSchema};
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it is only shown")]
struct Invoice {
    number: u32,
    /// In euros.
    amount: f64,
    days: u32,
}

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let invoice: Invoice = ikigai::model("openai:gpt-5.4-mini")?
        .extract("Invoice number=4711 of 3 May, amount=120 euros, due in days=30.")
        .await?;
    println!("{invoice:?}");
    Ok(())
}
