//! Conversations that last: SQLite or PostgreSQL behind one trait.

#![forbid(unsafe_code)]
