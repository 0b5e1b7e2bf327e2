//! Measures the first lookup in a process that has just started: a model's facts, then a full name with its route.

use std::time::Instant;

use ikigai_core::ModelName;
use ikigai_core::catalog::Catalog;
use ikigai_core::provider::Registry;

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let facts = Catalog::shared().find(Some("anthropic"), "claude-sonnet-4-5-20250929").ok_or("no such model")?;
    let first = start.elapsed();

    let start = Instant::now();
    let name = ModelName::parse("openrouter:google/gemini-2.5-pro/high")?;
    let named = start.elapsed();

    let start = Instant::now();
    let route = Registry::shared().route(&name)?;
    let routed = start.elapsed();

    let start = Instant::now();
    let unknown = ModelName::parse("cluade-sonnet-4-5").is_err();
    let refused = start.elapsed();

    println!("first lookup ({} of {} models): {first:?}", facts.name, Catalog::shared().models().count());
    println!("first name ({name}): {named:?}");
    println!("first route ({} in {}): {routed:?}", route.model, route.dialect);
    println!("first unknown name ({unknown}), with the three nearest: {refused:?}");
    Ok(())
}
