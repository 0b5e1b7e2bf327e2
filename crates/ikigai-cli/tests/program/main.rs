//! The program as a person or a script meets it.

mod color;
mod exit;
mod help;
mod pages;
mod support;
