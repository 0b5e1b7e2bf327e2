//! Compressed bodies.

use std::io::Write as _;
use std::task::{Poll, ready};

use bytes::Bytes;
use flate2::write::GzDecoder;
use http::{HeaderMap, header};

use super::{Body, Failure, TransportError};
use crate::error::Error;

/// How many compressed bytes are decompressed at once; at most a thousand times as many come out.
const STEP: usize = 1 << 10;
/// Up to this size, any ratio is allowed: short texts of one repeated letter compress to almost nothing.
const FREE: usize = 1 << 20;
/// How many archives may follow each other. An empty one has twenty bytes, and takes as long as many times as much text.
const MOST_ARCHIVES: usize = 4096;
/// How many steps may produce no output before other tasks get a turn.
const STEPS: usize = 64;

/// Decompresses a body as its headers say, and adjusts the headers. If it decompresses to more than `ratio` times its
/// size, reading it fails.
///
/// # Errors
/// Returns an error if it is compressed with anything but gzip.
pub fn unpack(body: Body, headers: &mut HeaderMap, ratio: usize) -> Result<Body, Error> {
    let Some(encoding) = headers.remove(header::CONTENT_ENCODING) else { return Ok(body) };
    headers.remove(header::CONTENT_LENGTH);
    match encoding.as_bytes().to_ascii_lowercase().as_slice() {
        b"" | b"identity" => Ok(body),
        b"gzip" | b"x-gzip" => Ok(unpacked(body, ratio)),
        other => {
            let other = String::from_utf8_lossy(other.get(..40).unwrap_or(other));
            let told = format!("the answer is compressed as `{other}`, which was not requested");
            Err(ikigai_core::Error::protocol(told).into())
        }
    }
}

/// Decompresses a gzip body. One that decompresses to more than `ratio` times its size is rejected.
fn unpacked(mut body: Body, ratio: usize) -> Body {
    let mut decoder = Archives { decoder: GzDecoder::new(Vec::new()), count: 1 };
    let mut packed = Bytes::new();
    let (mut taken, mut given) = (0_usize, 0_usize);
    let mut over = false;
    Body::poll_fn(move |cx| {
        for _ in 0..STEPS {
            if over {
                return Poll::Ready(None);
            }
            let mut outcome = Ok(());
            if packed.is_empty() {
                match ready!(body.poll_next(cx)) {
                    Some(Ok(bytes)) => packed = bytes,
                    Some(Err(error)) => outcome = Err(error),
                    None => {
                        over = true;
                        // No bytes at all are not an archive but an empty body.
                        outcome = if taken == 0 { Ok(()) } else { decoder.decoder.try_finish().map_err(|_| cut_off()) };
                    }
                }
            }
            let step = packed.split_to(packed.len().min(STEP));
            taken = taken.saturating_add(step.len());
            if outcome.is_ok() && !step.is_empty() {
                outcome = decoder.unpack(&step);
                if outcome.is_ok() && packed.is_empty() {
                    // Output is returned at once, because more input may take a while.
                    outcome = decoder.decoder.flush().map_err(|_| damaged());
                }
            }
            let plain = std::mem::take(decoder.decoder.get_mut());
            given = given.saturating_add(plain.len());
            if given > FREE && given / ratio.max(1) > taken {
                outcome = Err(bomb(ratio));
            }
            if let Err(error) = outcome {
                over = true;
                // The connection is dropped along with the body.
                body = Body::whole("");
                return Poll::Ready(Some(Err(error)));
            }
            if !plain.is_empty() {
                return Poll::Ready(Some(Ok(plain.into())));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

/// Reads consecutive archives as one.
struct Archives {
    decoder: GzDecoder<Vec<u8>>,
    count: usize,
}

impl Archives {
    fn unpack(&mut self, mut packed: &[u8]) -> Result<(), TransportError> {
        while !packed.is_empty() {
            match self.decoder.write(packed) {
                // This one is over, and another one begins.
                Ok(0) if self.count < MOST_ARCHIVES => {
                    self.decoder.try_finish().map_err(|_| damaged())?;
                    self.decoder = GzDecoder::new(std::mem::take(self.decoder.get_mut()));
                    self.count += 1;
                    let taken = self.decoder.write(packed).map_err(|_| damaged())?;
                    if taken == 0 {
                        return Err(damaged());
                    }
                    packed = packed.get(taken..).unwrap_or_default();
                }
                Ok(0) => {
                    let told = format!("the answer is more than {MOST_ARCHIVES} compressed archives");
                    return Err(TransportError::new(Failure::TooLarge, told));
                }
                Ok(taken) => packed = packed.get(taken..).unwrap_or_default(),
                Err(_) => return Err(damaged()),
            }
        }
        Ok(())
    }
}

fn damaged() -> TransportError {
    TransportError::new(Failure::Broken, "the compressed answer is damaged")
}

fn cut_off() -> TransportError {
    TransportError::new(Failure::Broken, "the compressed answer is cut off")
}

fn bomb(ratio: usize) -> TransportError {
    TransportError::new(Failure::TooLarge, format!("the answer decompresses to more than {ratio} times its size"))
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use pretty_assertions::assert_eq;

    use super::*;

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    async fn read(bytes: &[u8], piece: usize) -> Result<Bytes, String> {
        let mut pieces: Vec<Bytes> = bytes.chunks(piece).rev().map(Bytes::copy_from_slice).collect();
        let body = Body::poll_fn(move |_| Poll::Ready(pieces.pop().map(Ok)));
        unpacked(body, 100).read(64 << 20).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn any_cut_of_the_bytes_unpacks_to_the_same() {
        let plain: Vec<u8> = (0..40_000_u32).flat_map(|number| (number * number).to_le_bytes()).collect();
        for piece in [1, 7, 1023, 1024, 1025, 1 << 20] {
            assert!(read(&packed(&plain), piece).await.unwrap() == plain, "{piece}");
        }
        let twice = [packed(b"one, "), packed(b"two")].concat();
        assert_eq!(read(&twice, 5).await.unwrap(), "one, two", "archives may follow each other");
        assert_eq!(read(b"", 5).await.unwrap(), "");
    }

    #[tokio::test]
    async fn archives_without_anything_in_them_have_an_end() {
        let some = [packed(b"").repeat(4000), packed(b"text")].concat();
        assert_eq!(read(&some, 1 << 20).await.unwrap(), "text");
        let many = [packed(b"").repeat(5000), packed(b"text")].concat();
        let error = read(&many, 1 << 20).await.unwrap_err();
        assert_eq!(error, "the answer is more than 4096 compressed archives");
    }

    #[tokio::test]
    async fn what_has_come_is_given_before_there_is_more() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"data: 1\n\n").unwrap();
        encoder.flush().unwrap();
        let mut first = Some(Bytes::from(encoder.get_ref().clone()));
        let mut body =
            unpacked(Body::poll_fn(move |_| first.take().map_or(Poll::Pending, |it| Poll::Ready(Some(Ok(it))))), 100);
        assert_eq!(body.next().await.unwrap().unwrap(), "data: 1\n\n");
    }

    #[tokio::test]
    async fn damage_a_cut_and_a_bomb_are_told_apart() {
        let whole = packed(&b"hello ".repeat(100));
        assert_eq!(read(&whole[..whole.len() - 9], 10).await.unwrap_err(), "the compressed answer is cut off");
        let mut broken = whole.clone();
        broken[0] = 7;
        assert_eq!(read(&broken, 10).await.unwrap_err(), "the compressed answer is damaged");
        assert_eq!(read(&packed(&vec![b' '; 900 << 10]), 100).await.unwrap().len(), 900 << 10);
        let bomb = read(&packed(&vec![b' '; 4 << 20]), 100).await.unwrap_err();
        assert_eq!(bomb, "the answer decompresses to more than 100 times its size");
    }
}
