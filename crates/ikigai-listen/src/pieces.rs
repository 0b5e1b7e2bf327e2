//! Bodies in small pieces, so that a connection needs little memory.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The largest piece.
const LARGEST: usize = 16 << 10;
/// The most bytes given out before they have to be sent.
const MOST: usize = 32 << 10;

/// One turn of a connection, from when its task is woken until it waits again.
///
/// After hyper has sent what it had, it asks the body for more once again. A body that had nothing in this turn would
/// only say so again: whatever it waits for wakes the task, and that is another turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    has_nothing: Arc<AtomicBool>,
}

impl Turn {
    /// Starts a turn: the task was woken.
    pub(crate) fn begin(&self) {
        self.has_nothing.store(false, Ordering::Relaxed);
    }

    fn end<T>(&self) -> Poll<T> {
        self.has_nothing.store(true, Ordering::Relaxed);
        Poll::Pending
    }

    fn is_over(&self) -> bool {
        self.has_nothing.load(Ordering::Relaxed)
    }
}

/// A body in pieces.
///
/// What a connection writes is copied into a buffer that it keeps. Without this, the buffer would grow to the size of
/// the largest piece, or of everything that is ready at once.
#[derive(Debug)]
pub(crate) struct Pieces<B> {
    turn: Turn,
    body: B,
    /// The rest of a piece of the body.
    rest: Bytes,
    /// The number of bytes given out in this turn.
    given: usize,
}

impl<B> Pieces<B> {
    pub(crate) fn new(body: B, turn: Turn) -> Self {
        Pieces { turn, body, rest: Bytes::new(), given: 0 }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Pieces<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Pieces { turn, body, rest, given } = &mut *self;
        if turn.is_over() {
            return Poll::Pending;
        }
        if *given >= MOST {
            // The next turn follows at once, when this much is sent or waits to be.
            *given = 0;
            cx.waker().wake_by_ref();
            return turn.end();
        }
        if rest.is_empty() {
            let next = Pin::new(body).poll_frame(cx);
            if next.is_pending() {
                *given = 0;
                return turn.end();
            }
            match ready!(next).transpose()?.map(Frame::into_data) {
                Some(Ok(data)) => *rest = data,
                Some(Err(frame)) => return Poll::Ready(Some(Ok(frame))),
                None => return Poll::Ready(None),
            }
        }
        let piece = rest.split_to(rest.len().min(LARGEST));
        *given += piece.len();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper().and_then(|upper| upper.checked_add(rest)) {
            hint.set_upper(upper);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::Waker;

    use super::*;

    /// Pieces that are ready, and how often one was asked for.
    struct Source(VecDeque<Bytes>, usize);

    impl Body for Source {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.1 += 1;
            self.0.pop_front().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
        }
    }

    fn next(pieces: &mut Pieces<Source>) -> Option<Bytes> {
        match Pin::new(pieces).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            Poll::Ready(_) | Poll::Pending => None,
        }
    }

    #[test]
    fn large_pieces_are_cut_and_no_more_than_a_few_come_in_one_turn() {
        let whole: Bytes = (0..100_000_u32).map(|place| (place % 251) as u8).collect();
        let turn = Turn::default();
        let mut pieces = Pieces::new(Source([whole.clone()].into(), 0), turn.clone());
        let mut read = Vec::new();
        while read.len() < whole.len() {
            turn.begin();
            let before = read.len();
            while let Some(piece) = next(&mut pieces) {
                assert!(!piece.is_empty() && piece.len() <= LARGEST);
                read.extend_from_slice(&piece);
            }
            assert!((1..=MOST).contains(&(read.len() - before)));
        }
        assert!(read == whole);
    }

    #[test]
    fn a_body_that_had_nothing_is_asked_again_in_the_next_turn() {
        let turn = Turn::default();
        let mut pieces = Pieces::new(Source([Bytes::from_static(b"one")].into(), 0), turn.clone());
        turn.begin();
        assert_eq!(next(&mut pieces).as_deref(), Some(b"one".as_slice()));
        assert_eq!((next(&mut pieces), next(&mut pieces), pieces.body.1), (None, None, 2));
        pieces.body.0.push_back(Bytes::from_static(b"two"));
        assert_eq!(next(&mut pieces), None);
        turn.begin();
        assert_eq!(next(&mut pieces).as_deref(), Some(b"two".as_slice()));
    }
}
