//! The operations: each is one transaction, written once for both engines.
//!
//! A message belongs to one conversation and has a place in it. A fork has a parent and a `base`: so many messages of the
//! parent's line are its own beginning. It owns only what comes after, so that nothing is copied. Always true:
//!
//! - the messages that a conversation owns stand at `base + 1`, `base + 2`, … without a gap;
//! - where `base` is not 0, the parent itself owns the message at `base`, so that the parent's own base is less.

mod answers;
mod conversations;
mod family;
mod keys;
mod line;
mod messages;
mod moving;
mod search;
mod stats;

pub(crate) use answers::{Begin, Finish, Grow};
pub(crate) use conversations::{Create, Find, List, Open, Update};
pub(crate) use family::{Delete, Family, Fork, Truncate};
pub(crate) use keys::{AllSettings, GetSetting, Prompts, RememberPrompt, SetSetting};
pub(crate) use messages::{Append, Message, Thread};
pub(crate) use moving::{Outline, Record, Restore};
pub(crate) use search::{RawHit, Search, reindex};
pub(crate) use stats::{Examine, Measure, Spend, SpendFamily};
