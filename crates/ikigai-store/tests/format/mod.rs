//! Messages and streams of every shape, as made by the tests of the format.

#[path = "../../../ikigai-core/tests/support/choices.rs"]
pub(crate) mod choices;
#[path = "../../../ikigai-core/tests/support/generate.rs"]
pub(crate) mod generate;
