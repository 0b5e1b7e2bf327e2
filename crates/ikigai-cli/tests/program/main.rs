//! Tests of the program as people and scripts use it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic as tests may")]

mod ask;
mod batch;
mod color;
mod compare;
mod config;
mod doctor;
mod exit;
mod help;
mod history;
mod keys;
mod models;
mod pages;
mod recording;
mod roles;
mod safety;
mod serve;
mod sim;
mod support;
mod upgrade;
mod wire;
