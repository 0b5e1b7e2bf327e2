//! The README's Rust is compiled, because all its lines are also on the page about the library, which is.

const README: &str = include_str!("../../../../README.md");
const LIBRARY: &str = include_str!("../../../../docs/library.md");

#[test]
fn every_line_of_rust_in_the_readme_stands_on_the_page_that_is_compiled() {
    let mut inside = false;
    let mut lines = 0;
    for line in README.lines() {
        match line {
            "```rust" => inside = true,
            "```" => inside = false,
            _ if inside && !line.is_empty() => {
                lines += 1;
                assert!(LIBRARY.lines().any(|known| known == line), "not in docs/library.md: {line}");
            }
            _ => {}
        }
    }
    assert!(lines > 3, "the README shows the library");
}
