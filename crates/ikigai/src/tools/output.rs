//! The result of a tool.

use std::fmt::Display;

use ikigai_core::{Block, Content};
use serde::Serialize;
use serde_json::Value;

/// The result of a tool: blocks, and whether it failed.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// Text, pictures, documents.
    pub content: Vec<Block>,
    /// Whether it failed.
    pub is_error: bool,
}

impl Output {
    /// Makes a successful result.
    pub fn new(content: impl Into<Content>) -> Self {
        Output { content: blocks(content), is_error: false }
    }

    /// Makes a failure, which the model sees.
    pub fn error(message: impl Into<String>) -> Self {
        Output { content: vec![Block::text(message)], is_error: true }
    }
}

/// Converts a message's content to blocks.
fn blocks(content: impl Into<Content>) -> Vec<Block> {
    ikigai_core::user(content).content
}

/// A type that a tool's function may return: a string, a number, a JSON value, blocks (including pictures), nothing, or a
/// `Result` of these, whose error is shown to the model. [`Json`] makes any serialisable value one: structs, lists, maps.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    note = "wrap a value that implements `Serialize`: `ikigai::tools::Json(value)`"
)]
pub trait IntoOutput {
    /// Converts it into blocks.
    fn into_output(self) -> Output;
}

/// Any serialisable value as a tool's result.
///
/// ```
/// use ikigai::tools::{IntoOutput as _, Json};
///
/// assert_eq!(Json([1, 2]).into_output().content, [ikigai::Block::text("[1,2]")]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Output {
        match serde_json::to_value(self.0) {
            Ok(value) => Output::new(value),
            Err(error) => Output::error(format!("the result has no JSON form: {error}")),
        }
    }
}

impl IntoOutput for Output {
    fn into_output(self) -> Output {
        self
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Output {
        Output::new("done")
    }
}

impl<T: IntoOutput, E: Display> IntoOutput for Result<T, E> {
    fn into_output(self) -> Output {
        match self {
            Ok(value) => value.into_output(),
            Err(error) => Output::error(error.to_string()),
        }
    }
}

macro_rules! content {
    ($($kind:ty),* $(,)?) => {$(
        impl IntoOutput for $kind {
            fn into_output(self) -> Output {
                Output::new(self)
            }
        }
    )*};
}

content!(String, &str, &String, Value, Block, Vec<Block>);

macro_rules! plain {
    ($($kind:ty),* $(,)?) => {$(
        impl IntoOutput for $kind {
            fn into_output(self) -> Output {
                Output::new(self.to_string())
            }
        }
    )*};
}

plain!(bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_functions_mostly_return_needs_no_wrapping() {
        let text = |output: Output| output.content.iter().filter_map(Block::as_text).collect::<String>();
        assert_eq!(text(7.into_output()), "7");
        assert_eq!(text((-0.5).into_output()), "-0.5");
        assert_eq!(text(true.into_output()), "true");
        assert_eq!(text(Ok::<usize, String>(3).into_output()), "3");
        assert_eq!(text((&"4 °C".to_owned()).into_output()), "4 °C");
    }
}
