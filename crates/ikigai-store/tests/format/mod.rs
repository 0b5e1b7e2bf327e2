//! Messages and streams of every shape, as the tests of the format make them.

#[path = "../../../ikigai-core/tests/support/choices.rs"]
pub(crate) mod choices;
#[path = "../../../ikigai-core/tests/support/generate.rs"]
pub(crate) mod generate;
