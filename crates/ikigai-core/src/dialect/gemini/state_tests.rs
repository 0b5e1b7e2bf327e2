use base64::engine::general_purpose::URL_SAFE;

use super::*;

#[test]
fn dummies_are_known_as_text_and_as_bytes() {
    for dummy in [DUMMY, "context_engineering_is_the_way_to_go", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="] {
        assert!(is_dummy(dummy), "{dummy}");
    }
    assert!(is_dummy(&URL_SAFE.encode("context_engineering_is_the_way_to_go")));
    assert!(!is_dummy("EqoB") && !is_dummy(""));
}
