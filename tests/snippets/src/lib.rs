//! The documentation of the library, compiled as a user of it compiles it.

#![forbid(unsafe_code)]

/// The page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Page;

/// The snippets in the library's comments.
#[cfg(doctest)]
#[doc = include_str!(concat!(env!("OUT_DIR"), "/comments.md"))]
struct Comments;

/// What a program can rely on.
///
/// A stream of a type ends with a value of that type:
///
/// ```no_run
/// # #[derive(serde::Deserialize, ikigai::schemars::JsonSchema)] #[schemars(crate = "ikigai::schemars")] struct Person { name: String }
/// # async fn f(model: ikigai::Model) -> Result<(), ikigai::Error> {
/// let person: Person = model.extract_stream::<Person>("Ada is 36.").await?.finish().await?;
/// # Ok(()) }
/// ```
///
/// It cannot end with another:
///
/// ```compile_fail
/// # #[derive(serde::Deserialize, ikigai::schemars::JsonSchema)] #[schemars(crate = "ikigai::schemars")] struct Person { name: String }
/// # async fn f(model: ikigai::Model) -> Result<(), ikigai::Error> {
/// let person: u64 = model.extract_stream::<Person>("Ada is 36.").await?.finish().await?;
/// # Ok(()) }
/// ```
///
/// Importing everything hides nothing of the language or of other crates:
///
/// ```
/// use ikigai::*;
/// use std::task::Context;
///
/// let context = Context::from_waker(std::task::Waker::noop());
/// assert!(core::mem::size_of_val(&context) > 0);
/// ```
#[cfg(doctest)]
struct Promises;
