//! A strict, faithful, offline provider in all four dialects.

#![forbid(unsafe_code)]
