//! Sums, as they occur in a prompt: `2 + 2`, `(3.5 - 1) * 4`, `12 × 7`.

/// The first sum in a text and its value, if there is one with at least one operator.
pub(super) fn solve(text: &str) -> Option<(String, f64)> {
    let is_part = |c: char| c.is_ascii_digit() || "+-*/×÷().  ".contains(c);
    text.split(|c: char| !is_part(c)).find_map(|candidate| {
        let sum = candidate.trim().trim_end_matches(['.', ' ']);
        let has_operator = sum.chars().skip(1).any(|c| "+-*/×÷".contains(c));
        let mut parser = Parser { rest: sum, depth: 0 };
        let value = parser.sum()?;
        (has_operator && parser.rest.trim().is_empty() && value.is_finite()).then(|| (sum.to_owned(), value))
    })
}

/// A number without trailing zeros.
pub(super) fn show(value: f64) -> String {
    let rounded = (value * 1e9).round() / 1e9;
    format!("{rounded}")
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            match self.operator(&['+', '-']) {
                Some('+') => value += self.product()?,
                Some(_) => value -= self.product()?,
                None => return Some(value),
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        loop {
            match self.operator(&['*', '×', '/', '÷']) {
                Some('*' | '×') => value *= self.factor()?,
                Some(_) => value /= self.factor()?,
                None => return Some(value),
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        // Deep enough for any prompt, shallow enough for any stack.
        if self.depth > 50 {
            return None;
        }
        self.rest = self.rest.trim_start();
        if let Some(inner) = self.rest.strip_prefix('-') {
            self.rest = inner;
            self.depth += 1;
            let value = self.factor().map(|value| -value);
            self.depth -= 1;
            return value;
        }
        if let Some(inner) = self.rest.strip_prefix('(') {
            self.rest = inner;
            self.depth += 1;
            let value = self.sum()?;
            self.depth -= 1;
            self.rest = self.rest.trim_start().strip_prefix(')')?;
            return Some(value);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        number.parse().ok()
    }

    fn operator(&mut self, any: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next().filter(|c| any.contains(c))?;
        self.rest = rest.strip_prefix(first)?;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_and_solved() {
        for (text, expected) in [
            ("What is 2+2?", Some("4")),
            ("What is 12 * 7 please", Some("84")),
            ("(3.5 - 1) * 4 = ?", Some("10")),
            ("10 / 4", Some("2.5")),
            ("-3 + 1", Some("-2")),
            ("0.1 + 0.2", Some("0.3")),
            ("1 / 0", None),
            ("call 555-1234 or 2", Some("-679")),
            ("the year 2026.", None),
            ("((((", None),
            ("", None),
        ] {
            assert_eq!(solve(text).map(|(_, value)| show(value)).as_deref(), expected, "{text}");
        }
        assert_eq!(solve(&format!("1+{}1{}", "(".repeat(500), ")".repeat(500))), None);
    }
}
