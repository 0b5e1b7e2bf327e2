//! ikigai in the terminal.

#![forbid(unsafe_code)]

fn main() {}
