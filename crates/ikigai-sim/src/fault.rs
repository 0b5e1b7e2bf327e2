//! Faults: the ways in which real providers and networks break.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The largest giant event, in bytes.
const LARGEST_EVENT: usize = 1 << 30;
/// A giant event is sent in pieces of this many bytes.
const GIANT_PIECE: usize = 64 << 10;
/// The longest pause, in milliseconds: ten minutes.
const LONGEST_PAUSE: u64 = 600_000;

/// One way to break an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Fault {
    /// An HTTP error in the provider's own words, with its retry headers if it has any.
    Status {
        /// The status, from 400 to 599.
        status: u16,
        /// How long the provider asks to wait, in milliseconds.
        #[serde(default)]
        retry_after_ms: Option<u64>,
    },
    /// Nothing for a while, then everything.
    SlowFirstByte {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// A pause before every event.
    SlowDrip {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// Half of the answer, then silence with the connection open.
    Stall,
    /// The connection closes before the first byte.
    CutBeforeHeaders,
    /// The connection closes in the middle of the headers.
    CutMidHeader,
    /// The connection closes in the middle of an event.
    CutMidEvent,
    /// The connection closes after all but the last event.
    CutBeforeEnd,
    /// The body ends cleanly, but without the last event.
    EndWithoutEnd,
    /// An event whose JSON is broken.
    MalformedJson,
    /// The right body with the content type `text/html`.
    WrongContentType,
    /// The provider's error event, after half of the answer.
    ErrorEvent,
    /// Every event twice.
    DuplicateEvents,
    /// Two events swap places.
    OutOfOrderEvents,
    /// An event of this many bytes.
    GiantEvent {
        /// The number of bytes, at most 2³⁰.
        bytes: usize,
    },
    /// Bytes in an event that are not UTF-8.
    InvalidUtf8,
    /// A TCP reset in the middle of the answer.
    Reset,
}

/// A fault, and when it happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The fault.
    pub fault: Fault,
    /// The share of requests that it happens to, 0 to 1, drawn from the simulator's seed and the request's number.
    #[serde(default)]
    pub rate: Option<f64>,
    /// The number of the only request that it happens to, counted from 1.
    #[serde(default)]
    pub nth: Option<u64>,
}

impl FaultRule {
    /// Whether it happens to request `number`, counted from 1. Without a rate and a number it always does.
    pub(crate) fn happens(&self, number: u64, seed: u64) -> bool {
        let by_number = self.nth.is_none_or(|nth| nth == number);
        let by_rate = self.rate.is_none_or(|rate| draw(seed, number) < rate);
        by_number && by_rate
    }
}

/// A number in 0..1 derived from the seed and the request's number, so that a failing run can be repeated.
fn draw(seed: u64, number: u64) -> f64 {
    let mut z = seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// The error for text that is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a fault: {why}")]
pub struct UnknownFault {
    text: String,
    why: String,
}

impl std::str::FromStr for Fault {
    type Err = UnknownFault;

    /// Reads the short form that headers and the command line use: `cut_mid_event`, `status=429`,
    /// `status=429,retry_after_ms=2000`, `slow_drip,ms=20`, `giant_event,bytes=1000000`.
    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let unknown = |why: String| UnknownFault { text: text.to_owned(), why };
        let mut name = "";
        let mut fields = serde_json::Map::new();
        for (place, part) in text.split(',').map(str::trim).enumerate() {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if place == 0 {
                name = key;
            }
            if !value.is_empty() {
                let number: u64 = value.parse().map_err(|_| unknown(format!("`{value}` is not a number")))?;
                fields.insert(key.to_owned(), number.into());
            }
        }
        let value = if fields.is_empty() {
            serde_json::Value::String(name.to_owned())
        } else {
            serde_json::Value::Object([(name.to_owned(), fields.into())].into_iter().collect())
        };
        let fault: Fault = serde_json::from_value(value).map_err(|error| unknown(error.to_string()))?;
        fault.within_limits().map_err(unknown)
    }
}

impl Fault {
    /// Returns the fault if its numbers are within the limits.
    pub(crate) fn within_limits(self) -> Result<Self, String> {
        match self {
            Fault::Status { status, .. } if !(400..=599).contains(&status) => {
                Err(format!("status {status} is not an error; use 400 to 599"))
            }
            Fault::SlowFirstByte { ms } | Fault::SlowDrip { ms } if ms > LONGEST_PAUSE => {
                Err(format!("{ms} ms is too long; the limit is {LONGEST_PAUSE}"))
            }
            Fault::GiantEvent { bytes } if bytes > LARGEST_EVENT => {
                Err(format!("{bytes} bytes are too many; the limit is {LARGEST_EVENT}"))
            }
            fault => Ok(fault),
        }
    }
}

/// How a fault delays or cuts the frames of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pacing {
    /// Before the first byte.
    pub(crate) before: Option<Duration>,
    /// Before every frame.
    pub(crate) between: Option<Duration>,
    /// After this many frames: silence.
    pub(crate) stall_after: Option<usize>,
    /// After this many frames: the connection closes.
    pub(crate) cut_after: Option<Cut>,
}

/// Where and how a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// After this many whole frames …
    pub(crate) frames: usize,
    /// … and this many bytes of the next one.
    pub(crate) bytes: usize,
    /// With a reset instead of an orderly close.
    pub(crate) reset: bool,
}

/// Changes the frames as the fault says, and returns how to send them.
pub(crate) fn apply(fault: &Fault, frames: &mut Vec<Bytes>, error_frame: impl FnOnce() -> Vec<u8>) -> Pacing {
    let half = frames.len().div_ceil(2);
    let last = frames.len().saturating_sub(1);
    let mut pacing = Pacing::default();
    match fault {
        Fault::SlowFirstByte { ms } => pacing.before = Some(Duration::from_millis(*ms)),
        Fault::SlowDrip { ms } => pacing.between = Some(Duration::from_millis(*ms)),
        Fault::Stall => pacing.stall_after = Some(half),
        Fault::CutMidEvent => {
            let bytes = frames.get(half).map_or(0, |frame| frame.len() / 2);
            pacing.cut_after = Some(Cut { frames: half, bytes, reset: false });
        }
        Fault::CutBeforeEnd => pacing.cut_after = Some(Cut { frames: last, bytes: 0, reset: false }),
        Fault::Reset => pacing.cut_after = Some(Cut { frames: half, bytes: 0, reset: true }),
        Fault::EndWithoutEnd => {
            frames.pop();
        }
        Fault::MalformedJson => {
            change_end(frames, half, b"", 1);
        }
        Fault::ErrorEvent => {
            frames.truncate(half);
            frames.push(error_frame().into());
        }
        Fault::DuplicateEvents => *frames = frames.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect(),
        Fault::OutOfOrderEvents => {
            if half > 0 && half < frames.len() {
                frames.swap(half - 1, half);
            }
        }
        Fault::GiantEvent { bytes } => {
            // Pieces that share their bytes: however large the event is, it takes almost no memory.
            let bytes = (*bytes).min(LARGEST_EVENT);
            let piece = Bytes::from(vec![b'x'; bytes.min(GIANT_PIECE)]);
            let mut giant = vec![Bytes::from_static(b"data: {\"giant\":\"")];
            giant.extend(std::iter::repeat_n(piece.clone(), bytes / GIANT_PIECE));
            giant.push(piece.slice(..bytes % GIANT_PIECE));
            giant.push(Bytes::from_static(b"\"}\n\n"));
            frames.splice(half..half, giant);
        }
        Fault::InvalidUtf8 => {
            change_end(frames, half, b",\"broken\":\"\xff\xfe\"", 0);
        }
        Fault::Status { .. } | Fault::CutBeforeHeaders | Fault::CutMidHeader | Fault::WrongContentType => {}
    }
    pacing
}

/// Replaces `taken` bytes at the last brace of a frame with `new`.
fn change_end(frames: &mut [Bytes], place: usize, new: &[u8], taken: usize) {
    if let Some(frame) = frames.get_mut(place)
        && let Some(brace) = frame.iter().rposition(|&byte| byte == b'}')
    {
        let mut changed = frame.to_vec();
        changed.splice(brace..brace + taken, new.iter().copied());
        *frame = changed.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_reads_every_kind_and_says_what_is_wrong() {
        for (text, fault) in [
            ("cut_mid_event", Fault::CutMidEvent),
            ("status=503", Fault::Status { status: 503, retry_after_ms: None }),
            ("status=429,retry_after_ms=50", Fault::Status { status: 429, retry_after_ms: Some(50) }),
            ("slow_drip, ms=20", Fault::SlowDrip { ms: 20 }),
            ("giant_event,bytes=9", Fault::GiantEvent { bytes: 9 }),
        ] {
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
        let wrong = "cut_mid_evnt".parse::<Fault>().unwrap_err().to_string();
        assert!(
            wrong.starts_with("`cut_mid_evnt` is not a fault: unknown variant `cut_mid_evnt`, expected one of"),
            "{wrong}"
        );
        let wrong = "slow_drip,ms=soon".parse::<Fault>().unwrap_err().to_string();
        assert_eq!(wrong, "`slow_drip,ms=soon` is not a fault: `soon` is not a number");
        for (text, why) in [
            ("giant_event,bytes=1000000000000", "1000000000000 bytes are too many; the limit is 1073741824"),
            ("slow_drip,ms=600001", "600001 ms is too long; the limit is 600000"),
            ("status=99", "status 99 is not an error; use 400 to 599"),
        ] {
            assert_eq!(text.parse::<Fault>().unwrap_err().to_string(), format!("`{text}` is not a fault: {why}"));
        }
    }

    #[test]
    fn a_rate_is_met_and_repeats_with_its_seed() {
        let rule = FaultRule { fault: Fault::Stall, rate: Some(0.25), nth: None };
        let hits = |seed| (1..=10_000).filter(|&number| rule.happens(number, seed)).count();
        assert_eq!(hits(7), hits(7));
        assert!((2_300..2_700).contains(&hits(7)), "{}", hits(7));
        let third = FaultRule { nth: Some(3), rate: None, ..rule };
        assert_eq!((1..=5).filter(|&number| third.happens(number, 0)).collect::<Vec<_>>(), [3]);
    }
}
