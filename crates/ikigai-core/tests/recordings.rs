//! Tests on more than two thousand recorded exchanges with providers.

#![cfg(test)]

mod support {
    pub(crate) mod conversation;
    pub(crate) mod findings;
    pub(crate) mod opaque;
    pub(crate) mod recordings;
    pub(crate) mod responses_client;
    pub(crate) mod seals;
    pub(crate) mod summary;
    pub(crate) mod watching;
    pub(crate) mod wire;
}

#[path = "recorded/back.rs"]
mod back;
#[path = "recorded/cited.rs"]
mod cited;
#[path = "recorded/leaves.rs"]
mod leaves;
#[path = "recorded/own.rs"]
mod own;
#[path = "recorded/pairs.rs"]
mod pairs;
#[path = "recorded/responses.rs"]
mod responses;
#[path = "recorded/taken.rs"]
mod taken;
#[path = "recorded/watched.rs"]
mod watched;
