//! The operations: each is one transaction, written once for both engines.
//!
//! A message belongs to one conversation and has a place in it. A fork has a parent and a `base`: it begins with that
//! many messages of the parent's line. It owns only what comes after, so nothing is copied. Always true:
//!
//! - the messages that a conversation owns are at `base + 1`, `base + 2`, … without a gap;
//! - if `base` is not 0, the parent itself owns the message at `base`, so the parent's own base is smaller.

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
