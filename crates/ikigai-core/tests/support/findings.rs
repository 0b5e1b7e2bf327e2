//! Reports all failures of a test at once, not only the first.

/// What went wrong, and in how many cases.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    seen: usize,
    lines: Vec<String>,
}

impl Findings {
    /// Counts another case.
    pub(crate) fn case(&mut self) {
        self.seen += 1;
    }

    /// Records that something is wrong with a case.
    pub(crate) fn add(&mut self, id: &str, what: impl std::fmt::Display) {
        self.lines.push(format!("{id}: {what}"));
    }

    /// Compares two values that should be the same, and records where they first differ rather than all of both.
    pub(crate) fn same<T: PartialEq + std::fmt::Debug>(&mut self, id: &str, what: &str, found: &T, wanted: &T) {
        if found != wanted {
            let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
            self.add(id, format!("{what}: {}", first_difference(&found, &wanted)));
        }
    }

    /// Fails with all findings, if there are any.
    #[track_caller]
    pub(crate) fn report(self) {
        assert!(self.seen > 0, "there was nothing to look at");
        assert!(
            self.lines.is_empty(),
            "{} findings in {} cases:\n{}",
            self.lines.len(),
            self.seen,
            self.lines.join("\n")
        );
    }
}

/// Returns where two texts first differ, with an excerpt of each.
pub(crate) fn first_difference(found: &str, wanted: &str) -> String {
    let at = found.chars().zip(wanted.chars()).take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| text.chars().skip(at.saturating_sub(30)).take(160).collect::<String>();
    format!("found …{} but wanted …{}", excerpt(found), excerpt(wanted))
}
