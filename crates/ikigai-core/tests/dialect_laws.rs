//! The laws that every dialect follows, on requests and answers generated for it.

#![cfg(test)]

mod support {
    pub(crate) mod cases;
    pub(crate) mod choices;
    pub(crate) mod conversation;
    pub(crate) mod findings;
    pub(crate) mod generate;
    pub(crate) mod summary;
    pub(crate) mod watching;
    pub(crate) mod wire;
}

#[path = "laws/fields.rs"]
mod fields;
#[path = "laws/generated.rs"]
mod generated;
#[path = "laws/glance.rs"]
mod glance;
#[path = "laws/state.rs"]
mod state;
#[path = "laws/survive.rs"]
mod survive;
#[path = "laws/watched.rs"]
mod watched;
