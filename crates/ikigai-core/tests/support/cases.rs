//! How often a law is tested.

use proptest::prelude::ProptestConfig;

/// Returns the number of cases that the test specifies, or `PROPTEST_CASES`.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence: None, ..ProptestConfig::default() }
}
