//! Exact amounts of money.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// Digits after the decimal point.
const PLACES: usize = 12;
/// Pico-dollars in a dollar.
const DOLLAR: i128 = 10_i128.pow(PLACES as u32);
/// Pico-dollars in the sixth decimal place.
const MICRO: i128 = 1_000_000;

/// An amount of dollars, exact to the trillionth: a price per million tokens, times any number of tokens, is always
/// exact.
///
/// It is printed with six decimal places, with as many as you ask for (`{:.2}`), or exactly (`{:#}`). In JSON it is a
/// number if a number can hold it exactly, and otherwise a decimal string.
///
/// ```
/// use ikigai_core::catalog::Money;
///
/// let money: Money = "0.00123456".parse().unwrap();
/// assert_eq!(format!("{money} {money:.2} {money:#}"), "$0.001235 $0.00 $0.00123456");
/// assert_eq!(serde_json::to_string(&money).unwrap(), "0.00123456");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(i128);

/// The error for a string that is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an amount of dollars; write it like 0.25, with at most 12 decimal places")]
pub struct NotMoney(pub String);

impl Money {
    /// Zero dollars.
    pub const ZERO: Money = Money(0);

    /// Creates an amount from pico-dollars; a dollar has 10¹² of them.
    pub const fn from_pico(pico: i128) -> Money {
        Money(pico)
    }

    /// Returns the amount in pico-dollars.
    pub const fn pico(self) -> i128 {
        self.0
    }

    /// Adds two amounts. Returns `None` on overflow, at 1.7 × 10²⁶ dollars.
    pub fn checked_add(self, other: Money) -> Option<Money> {
        self.0.checked_add(other.0).map(Money)
    }

    /// Returns the cost of tokens at a price in pico-dollars per token, saturating at amounts that no bill reaches.
    pub(crate) fn of(tokens: u64, price: u64) -> Money {
        let pico = u128::from(tokens) * u128::from(price);
        Money(i128::try_from(pico).unwrap_or(i128::MAX))
    }

    /// Rounds to six decimal places, half away from zero.
    #[must_use]
    pub fn rounded(self) -> Money {
        Money(to_nearest(self.0, MICRO).saturating_mul(MICRO))
    }

    /// Returns the amount as an exact decimal number: `0.25`, `-3`.
    fn decimal(self) -> String {
        let text = self.with_places(PLACES);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// Returns the amount with this many decimal places, at most twelve.
    fn with_places(self, places: usize) -> String {
        let places = places.min(PLACES);
        let unit = 10_i128.pow((PLACES - places) as u32);
        let rounded = to_nearest(self.0, unit);
        let sign = if rounded < 0 { "-" } else { "" };
        let digits = rounded.unsigned_abs();
        let parts = 10_u128.pow(places as u32);
        let (whole, rest) = (digits / parts, digits % parts);
        if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0places$}") }
    }
}

/// Divides by a unit, rounding to the nearest; a half is rounded away from zero.
fn to_nearest(amount: i128, unit: i128) -> i128 {
    let (whole, rest) = (amount / unit, amount % unit);
    if rest.abs() * 2 >= unit { whole + amount.signum() } else { whole }
}

impl Add for Money {
    type Output = Money;

    /// Returns the sum, saturating on overflow.
    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if f.alternate() { self.decimal() } else { self.with_places(f.precision().unwrap_or(6)) };
        match text.strip_prefix('-') {
            Some(text) => write!(f, "-${text}"),
            None => write!(f, "${text}"),
        }
    }
}

impl FromStr for Money {
    type Err = NotMoney;

    /// Reads `0.25`, `$0.25`, `-3`.
    fn from_str(text: &str) -> Result<Money, NotMoney> {
        match read(text) {
            Some((money, true)) => Ok(money),
            Some((_, false)) | None => Err(NotMoney(text.chars().take(60).collect())),
        }
    }
}

/// Reads a decimal number; the flag says whether it is exact.
fn read(text: &str) -> Option<(Money, bool)> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty()
        || !(whole.bytes().chain(places.bytes())).all(|byte| byte.is_ascii_digit())
        || text.ends_with('.')
    {
        return None;
    }
    let (kept, rest) = places.split_at_checked(PLACES).unwrap_or((places, ""));
    let fraction: i128 = format!("{kept:0<PLACES$}").parse().ok()?;
    let up = i128::from(rest.bytes().next().is_some_and(|digit| digit >= b'5'));
    let pico = whole.parse::<i128>().ok()?.checked_mul(DOLLAR)?.checked_add(fraction)?.checked_add(up)?;
    Some((Money(sign * pico), rest.bytes().all(|digit| digit == b'0')))
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = self.decimal();
        match text.parse::<f64>() {
            Ok(number) if number.to_string() == text => to.serialize_f64(number),
            _ => to.serialize_str(&text),
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    /// Reads a number or a decimal string. A number with more than twelve decimal places is rounded.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Money, D::Error> {
        struct Amount;
        impl Visitor<'_> for Amount {
            type Value = Money;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of dollars, as a number or a decimal text")
            }

            fn visit_u64<E: Error>(self, dollars: u64) -> Result<Money, E> {
                self.visit_i128(i128::from(dollars))
            }

            fn visit_i64<E: Error>(self, dollars: i64) -> Result<Money, E> {
                self.visit_i128(i128::from(dollars))
            }

            fn visit_i128<E: Error>(self, dollars: i128) -> Result<Money, E> {
                dollars.checked_mul(DOLLAR).map(Money).ok_or_else(|| E::custom("the amount is too large"))
            }

            fn visit_f64<E: Error>(self, dollars: f64) -> Result<Money, E> {
                let text = dollars.to_string();
                read(&text).map(|(money, _)| money).ok_or_else(|| E::custom(NotMoney(text.chars().take(60).collect())))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Money, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_any(Amount)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Money {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Money".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Dollars: a number where that is exact, a decimal text where not.",
            "type": ["number", "string"],
            "pattern": r"^-?[0-9]+(\.[0-9]{1,12})?$"
        })
    }
}

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;
