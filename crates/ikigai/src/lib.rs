//! The client library: one API for every model.

#![forbid(unsafe_code)]
