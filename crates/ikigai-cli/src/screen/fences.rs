//! Extracts the code blocks of a text.

/// Returns the code between fences, block by block; a block that is not closed does not count.
pub(crate) fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for line in text.lines() {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        match &mut open {
            None if ticks >= 3 => open = Some((ticks, Vec::new())),
            None => {}
            Some((fence, lines)) if ticks >= *fence && line.trim().len() == ticks => {
                blocks.push(lines.join("\n"));
                open = None;
            }
            Some((_, lines)) => lines.push(line),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn code_blocks_are_found() {
        assert_eq!(blocks("a\n```rust\none\n```\nb\n```\ntwo\nthree\n```\nc"), ["one", "two\nthree"]);
        assert_eq!(blocks("````\n```\ninner\n```\n````"), ["```\ninner\n```"]);
        assert_eq!(blocks("no code"), Vec::<String>::new());
        assert_eq!(blocks("```\nhalf"), Vec::<String>::new());
    }
}
