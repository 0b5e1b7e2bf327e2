//! Export and import: JSON Lines without loss, Markdown for people.

mod export;
mod import;
mod lines;
mod markdown;

pub use export::{Exported, Selection, export};
pub use import::{Imported, import};
pub use markdown::markdown;

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
