//! Parses RFC 3339 timestamps. Only one header needs them, which does not justify a calendar crate in every program.

use std::time::{Duration, SystemTime};

/// Parses `2026-11-15T00:00:42.5Z`, or with `+01:00` for the `Z`. `None` for anything else, and for times before 1970.
pub(super) fn rfc3339(text: &str) -> Option<SystemTime> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let (time, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => {
            let (at, _) = time.char_indices().rfind(|(_, c)| matches!(c, '+' | '-'))?;
            let (time, offset) = time.split_at_checked(at)?;
            let [hours, minutes] = numbers(offset.get(1..)?, ':', [2, 2])?;
            let seconds = (hours * 60 + minutes) * 60;
            (time, if offset.starts_with('-') { -seconds } else { seconds })
        }
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    // Leap seconds exist.
    let plausible = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    if !plausible || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(u64::try_from(seconds).ok()?) + Duration::from_secs_f64(fraction))
}

/// Parses numbers of these lengths, with a separator between them.
fn numbers<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part =
            parts.next().filter(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Returns the days since 1970-01-01. Years begin in March here, so that a leap day is the last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Expected values from `date -d TEXT +%s`.
    #[test]
    fn moments_are_read_with_their_fraction_and_their_zone() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T23:59:59Z", 951_868_799.0),
            ("2024-03-01T00:00:00z", 1_709_251_200.0),
            ("2026-11-15T00:00:42.25Z", 1_794_700_842.25),
            ("2026-11-15T01:30:00+01:30", 1_794_700_800.0),
            ("2026-11-14 19:00:00-05:00", 1_794_700_800.0),
        ] {
            let read = rfc3339(text).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            assert_eq!(read.as_secs_f64(), seconds, "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "T",
            "tomorrow",
            "2026-11-15",
            "2026-11-15T00:00:00",
            "2026-13-15T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T00:00Z",
            "2026-11-15T00:00:00.Z",
            "1969-12-31T23:59:59Z",
            "2026-11-15T00:00:00+1:00",
            "é-é-éTéZ",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
    }
}
