use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

const KEY: &str = "sk-proj-Ab3_dEf/h1+JkLmN0pQrStUvWx";

/// The text with `…` in place of what was found.
fn hidden(secrets: &[&str], text: &str) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for place in Finder::new(secrets.iter().copied()).find(text.as_bytes()) {
        shown += &text[from..place.start];
        shown.push('…');
        from = place.end;
    }
    shown + &text[from..]
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_secret_is_found_however_it_is_spelled() {
    let escaped = |format: fn(u8) -> String| KEY.bytes().map(format).collect::<String>();
    let (lower, upper) = (hex(KEY), hex(KEY).to_uppercase());
    for spelled in [
        KEY,
        &KEY.to_uppercase(),
        &KEY.to_lowercase(),
        &KEY.replace('/', "\\/"),
        &KEY.replace('/', "%2F").replace('+', "%2b"),
        &KEY.replace('-', "&#45;").replace('_', "&#x5F;"),
        &escaped(|byte| format!("%{byte:02X}")),
        &escaped(|byte| format!("\\u{byte:04x}")),
        &escaped(|byte| format!("\\x{byte:02x}")),
        &escaped(|byte| format!("&#{byte};")),
        &lower,
        &upper,
        &KEY[..14],
        &KEY[10..],
        &KEY[8..26],
        &lower[..26],
        &lower[21..],
    ] {
        assert_eq!(hidden(&[KEY], &format!("key: {spelled}, wrong")), "key: …, wrong", "{spelled}");
    }
}

#[test]
fn nothing_is_left_of_a_secret_that_is_encoded_alone() {
    for secret in ["tenant-4711-blue", "tenant-4711-blues", "tenant-4711-blue-1", KEY] {
        for encoded in [STANDARD.encode(secret), URL_SAFE_NO_PAD.encode(secret), hex(secret)] {
            assert_eq!(hidden(&[secret], &encoded).trim_end_matches('='), "…", "{encoded}");
        }
    }
}

#[test]
fn a_secret_is_found_in_encoded_text() {
    for before in ["", "a", "ab", "abc", "user:", "Authorization: Bearer "] {
        for after in ["", "z", "yz", "\r\nhost: x"] {
            let text = format!("{before}{KEY}{after}");
            for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text), hex(&text)] {
                let shown = hidden(&[KEY], &encoded);
                let left = shown.replace('…', "").len();
                // What is left holds the text around it, and less than a byte of the key at each end.
                let most = (before.len() + after.len()) * 2 + 8;
                assert!(shown.contains('…') && left <= most, "{before}+{after}: {encoded} -> {shown}");
            }
        }
    }
}

#[test]
fn ordinary_text_stays() {
    for text in [
        "",
        "sk-proj-",
        "The key begins with sk-proj-Ab3.",
        "100 % of 5 &amp; 6 \\n \\u00e9 %zz &#xyz; &#1234567; \\",
        "0123456789abcdef0123456789abcdef",
        "%",
        "\\u00",
    ] {
        assert_eq!(hidden(&[KEY, "short", "password-1"], text), text);
    }
    // Of a short secret, only all of it.
    assert_eq!(hidden(&["password-1"], "password, password-1, PASSWORD%2d1"), "password, …, …");
    assert!(Finder::new([]).find(KEY.as_bytes()).is_empty());
}

#[test]
fn several_secrets_one_after_the_other() {
    let (one, two) = ("first-secret-of-all-of-them", "second-secret-of-all-of-them");
    assert_eq!(hidden(&[one, two], &format!("{one}{two} {two}%20{one}")), "…… …%20…");
}

#[test]
fn a_finder_shows_no_secret() {
    assert_eq!(format!("{:?}", Finder::new([KEY])), "Finder { forms: 5, .. }");
}

#[test]
fn looking_takes_time_in_proportion_to_the_text() {
    // Text that almost matches everywhere, and escapes everywhere.
    let almost = KEY[8..23].repeat(2_000);
    let escapes = "\\u0073\\u006b".repeat(2_000);
    for text in [almost, escapes] {
        let finder = Finder::new([KEY, &KEY.repeat(20)]);
        let began = cpu_time::ThreadTime::now();
        finder.find(text.as_bytes());
        assert!(began.elapsed().as_millis() < 2000, "{:?}", began.elapsed());
    }
}

proptest! {
    #[test]
    fn any_secret_is_found_in_any_text(
        secret in "[A-Za-z0-9_/+.-]{8,60}", before in "\\PC{0,20}", after in "\\PC{0,20}",
    ) {
        let text = format!("{before}{secret}{after}");
        let shown = hidden(&[&secret], &text);
        prop_assert!(!shown.contains(&secret), "{} -> {}", text, shown);
    }

    #[test]
    fn any_bytes_can_be_searched(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut end = 0;
        for place in Finder::new([KEY]).find(&text) {
            prop_assert!(place.start >= end && place.start < place.end && place.end <= text.len());
            end = place.end;
        }
    }
}

/// The text with `…` in place of what is found if it arrives in pieces.
fn hidden_in_pieces(secret: &str, text: &str, cuts: &[usize]) -> String {
    let finder = Finder::new([secret]);
    let (mut shown, mut held) = (String::new(), String::new());
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        held += &text[from..cut];
        from = cut;
        let rest = held.split_off(held.len() - finder.unfinished(held.as_bytes()));
        shown += &hidden(&[secret], &held);
        held = rest;
        assert!(held.len() <= secret.len() * 2 * 7, "{held}");
    }
    shown + &hidden(&[secret], &held)
}

#[test]
fn a_secret_is_found_wherever_the_text_is_cut() {
    let escaped = |format: fn(u8) -> String| KEY.bytes().map(format).collect::<String>();
    for spelled in [
        KEY,
        &KEY.to_uppercase(),
        &KEY.replace('/', "\\/"),
        &escaped(|byte| format!("%{byte:02X}")),
        &escaped(|byte| format!("\\u{byte:04x}")),
        &escaped(|byte| format!("&#x{byte:x};")),
        &hex(KEY),
        &STANDARD.encode(format!("user:{KEY}")),
        &KEY[..14],
        &KEY[10..],
        &format!("{KEY}{KEY}"),
        &format!("{}{KEY}", &KEY[..5]),
    ] {
        let text = format!("{{\"message\": \"the key {spelled} is \\\"wrong\\\"\"}}");
        let whole = hidden(&[KEY], &text);
        for cut in 0..text.len() {
            assert_eq!(hidden_in_pieces(KEY, &text, &[cut]), whole, "{spelled} at {cut}");
        }
        let everywhere: Vec<usize> = (0..text.len()).collect();
        assert_eq!(hidden_in_pieces(KEY, &text, &everywhere), whole, "{spelled}, byte by byte");
    }
}
