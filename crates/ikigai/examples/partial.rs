//! A value while it is being written, for a page that fills in as it arrives.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::schemars::{self, JsonSchema};
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Person {
    name: String,
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let model = ikigai::model("anthropic:claude-sonnet-4-5")?;
    let mut stream = model.extract_stream::<Person>("name=\"Ada Lovelace\" lives in city=\"London\".").await?;
    let mut shown = 0;
    while let Some(person) = stream.next_value().await? {
        shown += 1;
        if shown == 1 {
            println!("first: {person}");
        }
    }
    let person: Person = stream.finish().await?;
    println!("whole, after {shown} pieces: {} of {}", person.name, person.city);
    Ok(())
}
