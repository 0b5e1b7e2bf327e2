//! The server: any client dialect in, any provider out.

#![forbid(unsafe_code)]
