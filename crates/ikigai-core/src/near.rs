//! Finding similar names, for "did you mean".

/// Longer words are not compared: the work grows with the square of the length.
const LONGEST: usize = 128;

/// Returns the candidate closest to a word, if it is close enough to be what was meant.
pub fn close<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, candidate) = rank(word, candidates, 1).into_iter().next()?;
    (distance <= word.chars().count().div_ceil(3).max(1)).then_some(candidate)
}

/// Returns the candidates closest to a word, closest first, however different, without duplicates.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    rank(word, candidates, count).into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the end of a message about an unknown word.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

fn rank<'a>(word: &str, candidates: impl Iterator<Item = &'a str>, count: usize) -> Vec<(usize, &'a str)> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let word = letters(word);
    let mut best: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let worst = if best.len() < count { usize::MAX } else { best.last().map_or(0, |(worst, _)| *worst) };
        // At least as many edits as the difference in length: this rules out most candidates.
        let letters = letters(candidate);
        if letters.len().abs_diff(word.len()) > worst
            || best.iter().any(|(_, known)| known.eq_ignore_ascii_case(candidate))
        {
            continue;
        }
        let entry = (distance(&word, &letters), candidate);
        let place = best.partition_point(|known| *known <= entry);
        best.insert(place, entry);
        best.truncate(count);
    }
    best
}

fn letters(word: &str) -> Vec<char> {
    word.chars().take(LONGEST).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Counts the letters that must be inserted, deleted, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    // Three rows of the table: the one being filled and the two above it.
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let (mut two_above, mut row) = (above.clone(), above.clone());
    for (i, letter) in a.iter().enumerate() {
        row.clear();
        row.push(i + 1);
        let mut left = i + 1;
        for ((j, other), pair) in b.iter().enumerate().zip(above.windows(2)) {
            let &[diagonal, up] = pair else { continue };
            let mut cost = (diagonal + usize::from(letter != other)).min(up + 1).min(left + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(other) && b.get(j - 1) == Some(letter);
            if let Some(before) = two_above.get(j.wrapping_sub(1)).filter(|_| swapped) {
                cost = cost.min(before + 1);
            }
            row.push(cost);
            left = cost;
        }
        std::mem::swap(&mut two_above, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits_and_swaps() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("cluade", "claude", 1),
            ("abcd", "acbd", 1),
            ("é", "e", 1),
        ] {
            assert_eq!(distance(&letters(a), &letters(b)), edits, "{a} {b}");
            assert_eq!(distance(&letters(b), &letters(a)), edits, "{b} {a}");
        }
    }

    #[test]
    fn offers_only_what_may_be_meant() {
        let keys = ["base_url", "key_env", "quirks"];
        assert_eq!(close("base_urls", keys.into_iter()), Some("base_url"));
        assert_eq!(close("Quirk", keys.into_iter()), Some("quirks"));
        assert_eq!(close("weather", keys.into_iter()), None);
        assert_eq!(nearest("key", keys.into_iter(), 2), ["key_env", "quirks"]);
        assert_eq!(close(&"x".repeat(LONGEST + 1), keys.into_iter()), None);
    }
}
