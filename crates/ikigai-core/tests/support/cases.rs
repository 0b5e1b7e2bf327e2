//! How often a law is tried.

use proptest::prelude::ProptestConfig;

/// As many cases as the test says, or as `PROPTEST_CASES` does.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence: None, ..ProptestConfig::default() }
}
