//! Times, formatted for people.

use std::time::SystemTime;

use ikigai_store::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Formats a time relative to now: `5 min ago`, `3 days ago`, and after a week as a date.
pub(crate) fn ago(time: Time) -> String {
    match local(time) {
        Some(then) => told(&then, &Zoned::now()),
        None => time.to_string(),
    }
}

/// Formats the date and time: `2026-11-15 10:38`.
pub(crate) fn exact(time: Time) -> String {
    local(time).map_or_else(|| time.to_string(), |then| then.strftime("%Y-%m-%d %H:%M").to_string())
}

fn local(time: Time) -> Option<Zoned> {
    Timestamp::try_from(SystemTime::from(time)).ok().map(|then| then.to_zoned(TimeZone::system()))
}

fn told(then: &Zoned, now: &Zoned) -> String {
    let seconds = now.timestamp().as_second().saturating_sub(then.timestamp().as_second());
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours / 24, hours, minutes) {
        // The clock was wrong, then or now: the date says most.
        _ if seconds < -60 => then.strftime("%Y-%m-%d").to_string(),
        (0, 0, ..=0) => "just now".to_owned(),
        (0, 0, minutes) => format!("{minutes} min ago"),
        (0, hours, _) => format!("{hours} h ago"),
        (1, ..) => "a day ago".to_owned(),
        (days @ 2..7, ..) => format!("{days} days ago"),
        _ => then.strftime("%Y-%m-%d").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn near_moments_are_told_by_their_distance_and_far_ones_by_their_day() {
        let now: Zoned = "2026-03-20T12:00:00+01:00[+01:00]".parse().unwrap();
        let of = |seconds: i64| {
            let then = Timestamp::from_second(now.timestamp().as_second() - seconds).unwrap();
            told(&then.to_zoned(now.time_zone().clone()), &now)
        };
        let told = [-600_000, -30, 0, 59, 60, 3599, 3600, 86_399, 86_400, 3 * 86_400, 7 * 86_400].map(of);
        let expected = [
            "2026-03-27",
            "just now",
            "just now",
            "just now",
            "1 min ago",
            "59 min ago",
            "1 h ago",
            "23 h ago",
            "a day ago",
            "3 days ago",
            "2026-03-13",
        ];
        assert_eq!(told, expected);
    }
}
