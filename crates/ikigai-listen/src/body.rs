//! Reads request bodies: within limits, and only as many at once as there is room for.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Room is given out in pieces of this many bytes.
const PIECE: usize = 1024;
/// What a body of unknown length gets at first.
const FIRST: usize = 64 << 10;
/// Spare bytes after a body, so that a longer name can be written into it.
const SPARE: usize = 64;
/// How long a request waits for room.
const WAIT: Duration = Duration::from_secs(60);

/// Room in memory for the requests that are held at once.
#[derive(Debug, Clone)]
pub struct Room(Arc<Semaphore>);

/// A request's body, with the room that it takes.
#[derive(Debug)]
pub struct Held {
    /// The body.
    pub bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

/// The reason why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has more bytes than this.
    #[error("the request is larger than the limit of {0} bytes")]
    TooLarge(usize),
    /// Its next piece did not arrive in time.
    #[error("the rest of the request did not arrive in time")]
    TooSlow,
    /// There is no room for it in addition to those already held.
    #[error("the server is holding too many requests; try again")]
    NoRoom,
    /// The connection ended before the body did.
    #[error("the request broke off")]
    Broken,
}

impl Room {
    /// Creates room for this many bytes.
    pub fn new(bytes: usize) -> Self {
        Room(Arc::new(Semaphore::new((bytes / PIECE).clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Reads a body of at most `most` bytes whose pieces arrive at most `pause` apart.
    ///
    /// # Errors
    /// Returns an error if it is larger, slower or broken, or there is no room for it.
    pub async fn read(&self, mut body: Incoming, most: usize, pause: Duration) -> Result<Held, Refused> {
        let told = body.size_hint();
        if told.lower() > most as u64 {
            return Err(Refused::TooLarge(most));
        }
        if body.is_end_stream() {
            return Ok(Held { bytes: Bytes::new(), _room: None });
        }
        let expected = told.exact().map_or(FIRST, |exact| usize::try_from(exact).unwrap_or(most)).min(most);
        let mut room = match timeout(WAIT, Arc::clone(&self.0).acquire_many_owned(pieces(expected))).await {
            Ok(Ok(room)) => room,
            Ok(Err(_)) | Err(_) => return Err(Refused::NoRoom),
        };
        let mut read = BytesMut::new();
        let mut first: Option<Bytes> = None;
        loop {
            let piece = match timeout(pause, body.frame()).await {
                Err(_) => return Err(Refused::TooSlow),
                Ok(None) => break,
                Ok(Some(Err(_))) => return Err(Refused::Broken),
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            let length = read.len() + first.as_ref().map_or(0, Bytes::len) + piece.len();
            if length > most {
                return Err(Refused::TooLarge(most));
            }
            let taken = room.num_permits() * PIECE;
            if length > taken {
                // Waiting here would hold room that others wait for, so nothing does.
                let more = pieces((length - taken).max(taken).min(most - taken + PIECE));
                let more = Arc::clone(&self.0).try_acquire_many_owned(more).map_err(|_| Refused::NoRoom)?;
                room.merge(more);
            }
            // One piece is the usual case, and needs no copy.
            match first.take() {
                None if read.is_empty() => first = Some(piece),
                before => {
                    read.reserve(expected.saturating_sub(read.len()).max(piece.len()) + SPARE);
                    read.extend_from_slice(&before.unwrap_or_default());
                    read.extend_from_slice(&piece);
                }
            }
        }
        let bytes = first.unwrap_or_else(|| read.freeze());
        Ok(Held { bytes, _room: Some(room) })
    }
}

fn pieces(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PIECE).max(1)).unwrap_or(u32::MAX)
}

impl Refused {
    /// Returns the HTTP status for it.
    pub fn status(self) -> u16 {
        match self {
            Refused::TooLarge(_) => 413,
            Refused::TooSlow => 408,
            Refused::NoRoom => 503,
            Refused::Broken => 400,
        }
    }
}
