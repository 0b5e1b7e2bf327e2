//! What the chat displays: Markdown while it streams, thinking, a status line, notices.
//!
//! Everything except [`Live`] is pure: text in, text out. Whether that text contains colours is up to [`Look`], so it
//! can be written unchanged. Text from a model, a tool or a file never reaches the terminal with control characters in
//! it: every piece passes through [`clean`].

mod clean;
mod columns;
mod diff;
mod fences;
mod links;
mod live;
mod look;
mod markdown;
pub(crate) mod notice;
mod sheet;
pub(crate) mod sources;
mod spell;
pub(crate) mod status;
mod text;
pub(crate) mod thinking;

pub(crate) use clean::{clean, clean_styled};
pub(crate) use columns::{beside, column_width};
pub(crate) use fences::blocks;
pub(crate) use live::{Live, Region, Size};
pub(crate) use look::Look;
pub(crate) use markdown::{Frame, Renderer, acknowledgements, markdown};
pub(crate) use sheet::{Content, Sheet};
pub(crate) use spell::one_line;
pub(crate) use text::{shorten, untabbed, width, wrap};

#[cfg(test)]
mod testing;
