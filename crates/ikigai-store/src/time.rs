//! Moments, to the microsecond, which both engines can store.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

/// A moment, to the microsecond. In JSON and in print it is RFC 3339 in UTC.
///
/// ```
/// use ikigai_store::Time;
///
/// let time: Time = "2026-11-15T10:38:00.25+01:00".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-11-15T09:38:00.25Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Timestamp);

/// The error for text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write it like 2026-11-15T10:38:00Z")]
pub struct NotATime(String);

impl Time {
    /// Returns the current time, by the system's clock.
    pub fn now() -> Time {
        Time::whole(Timestamp::now())
    }

    /// Returns the moment this many microseconds after the start of 1970, or `None` beyond the year 9999.
    pub fn from_unix_micros(micros: i64) -> Option<Time> {
        Timestamp::from_microsecond(micros).ok().map(Time)
    }

    /// Returns the microseconds since the start of 1970.
    pub fn unix_micros(self) -> i64 {
        self.0.as_microsecond()
    }

    /// Drops anything finer than a microsecond, which would be lost on the way to the database and back.
    fn whole(timestamp: Timestamp) -> Time {
        Time(Timestamp::from_microsecond(timestamp.as_microsecond()).unwrap_or(timestamp))
    }
}

impl From<Time> for SystemTime {
    fn from(time: Time) -> SystemTime {
        time.0.into()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Time {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Time, NotATime> {
        text.parse().map(Time::whole).map_err(|_| NotATime(text.chars().take(60).collect()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_time_survives_its_text_and_its_number() {
        let now = Time::now();
        assert_eq!(now.to_string().parse(), Ok(now));
        assert_eq!(Time::from_unix_micros(now.unix_micros()), Some(now));
        assert_eq!(Time::from_unix_micros(i64::MAX), None);
        assert_eq!("2026-11-15T10:38:00.123456789Z".parse::<Time>().map(|time| time.unix_micros() % 1000), Ok(456));
        assert_eq!("yesterday".parse::<Time>(), Err(NotATime("yesterday".into())));
    }
}
