//! Durable conversations: SQLite or PostgreSQL behind one trait.
//!
//! | to | use |
//! |---|---|
//! | open a database | [`open`], [`default_location`], [`Sqlite::open`], [`Sqlite::memory`], [`Postgres::open`] |
//! | do anything else with it | [`Store`] |
//! | describe a message to store, and a stored one | [`Entry`], [`Stored`] |
//! | store an answer as it grows | [`Recording`] |
//! | search | [`Search`], [`Hit`] |
//! | see what answers took and cost | [`Store::spent`], [`Store::stats`] |
//! | export and import | [`export`], [`import`], [`markdown`] |
//!
//! Messages are stored in the canonical form only, and whole: who answered, at which level, what it took and cost, and
//! every provider's sealed state. Every write is a transaction.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ikigai.db");
//! # let path = path.to_str().unwrap();
//! use ikigai_core::{Message, Role};
//! use ikigai_store::{Details, Listing};
//!
//! let store = ikigai_store::open(path).await?; // Or postgres://…
//! let chat = store.create(Details::default()).await?;
//! store.append(chat.id, Message::new(Role::User, "Why is the sky blue?").into()).await?;
//!
//! let newest = store.list(Listing::newest(10)).await?;
//! assert_eq!(newest.conversations[0].title.as_deref(), Some("Why is the sky blue?"));
//! # Ok::<(), ikigai_store::Error>(()) }).unwrap();
//! ```

#![forbid(unsafe_code)]

#[cfg(not(any(feature = "sqlite", feature = "postgres")))]
compile_error!("ikigai-store needs an engine: the feature `sqlite` or `postgres`");

mod answer_pieces;
mod attachments;
mod conversation;
mod entry;
mod error;
mod find;
mod id;
mod json;
mod message_rows;
mod migrations;
mod open;
mod ops;
#[cfg(feature = "postgres")]
mod postgres;
mod recording;
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stats;
mod store;
mod text;
mod time;
mod transfer;

pub use conversation::{Conversation, Cursor, Details, Listing, ModelChoice, NotACursor, Page, Parent, Point};
pub use entry::{Entry, State, Stored};
pub use error::{Error, ErrorKind, Result};
pub(crate) use find::Order;
pub use find::{Hit, Place, Search};
pub use id::{ConversationId, MessageId, NotAnId};
pub use open::{default_location, open};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use recording::Recording;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use stats::{Health, ModelStats, Spent, Stats};
pub use store::{Pending, Record, Restored, Store};
pub use text::Snippet;
pub use time::{NotATime, Time};
pub use transfer::{Exported, Imported, Selection, export, import, markdown};
