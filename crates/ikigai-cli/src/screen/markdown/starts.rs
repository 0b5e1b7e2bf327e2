//! How the first characters of a line tell what it begins.
//!
//! Every function takes the line without its indentation (at most three spaces of it), tabs already turned into spaces.

/// A fence that opens a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    sign: char,
    length: usize,
}

/// The kind of a list: two items of another kind are in two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Bullet(char),
    /// With the sign after the number.
    Numbered(char),
}

/// The start of a list item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListItem<'a> {
    pub(super) kind: ListKind,
    pub(super) number: u64,
    /// From the marker's first column to the content.
    pub(super) indent: usize,
    pub(super) content: &'a str,
}

/// How a block of HTML ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    BlankLine,
    /// At a line that holds this text.
    Text(&'static str),
    /// At a line that closes one of the elements whose content is no Markdown.
    RawElement,
}

/// On which side the values of a table's column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Centre,
    Right,
}

/// How many spaces a line begins with.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The line without up to `most` spaces of its indentation.
pub(super) fn strip_indent(line: &str, most: usize) -> &str {
    line.get(indent(line).min(most)..).unwrap_or_default()
}

/// What follows the sign of a quote.
pub(super) fn quote(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// A heading's level and its text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let text = rest.trim();
    let open = text.trim_end_matches('#');
    // Signs at the end belong to the heading's marks only when a space is before them.
    Some((level, if open.is_empty() || open.ends_with(' ') { open.trim_end() } else { text }))
}

/// The level of a heading whose text is the paragraph above this line.
pub(super) fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end();
    if line.is_empty() {
        None
    } else if line.chars().all(|sign| sign == '=') {
        Some(1)
    } else if line.chars().all(|sign| sign == '-') {
        Some(2)
    } else {
        None
    }
}

/// Whether the line is a rule.
pub(super) fn is_rule(line: &str) -> bool {
    let Some(sign) = line.chars().next().filter(|sign| matches!(sign, '-' | '*' | '_')) else { return false };
    line.chars().all(|character| character == sign || character == ' ') && line.matches(sign).count() >= 3
}

/// A fence, and the words after it.
pub(super) fn fence(line: &str) -> Option<(Fence, &str)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let info = line.trim_start_matches(sign);
    let length = line.len() - info.len();
    if length < 3 || (sign == '`' && info.contains('`')) {
        return None;
    }
    Some((Fence { sign, length }, info.trim()))
}

impl Fence {
    /// Whether the line, with its indentation, ends the block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let Some((rest, length)) = self.signs(line) else { return false };
        length >= self.length && rest.trim().is_empty()
    }

    /// Whether the line may become the end of the block when more of it arrives.
    pub(super) fn may_be_closed_by(self, line: &str) -> bool {
        self.signs(line).is_some_and(|(rest, length)| length > 0 && rest.trim().is_empty())
    }

    fn signs(self, line: &str) -> Option<(&str, usize)> {
        if indent(line) > 3 {
            return None;
        }
        let line = line.trim_start_matches(' ');
        let rest = line.trim_start_matches(self.sign);
        Some((rest, line.len() - rest.len()))
    }
}

/// A list item. `within_paragraph`: the line above is a paragraph, which only some items may end.
pub(super) fn list_item(line: &str, within_paragraph: bool) -> Option<ListItem<'_>> {
    let digits = line.len() - line.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let (number, after) = line.split_at_checked(digits)?;
    let sign = after.chars().next()?;
    let kind = match (digits, sign) {
        (0, '-' | '+' | '*') => ListKind::Bullet(sign),
        (1..=9, '.' | ')') => ListKind::Numbered(sign),
        _ => return None,
    };
    let rest = after.get(1..)?;
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let number = number.parse().unwrap_or(0);
    let marker = digits + 1;
    let empty = rest.trim().is_empty();
    if within_paragraph && (empty || matches!(kind, ListKind::Numbered(_)) && number != 1) {
        return None;
    }
    let spaces = indent(rest);
    // Five spaces and more: one belongs to the marker, and the rest is code.
    let spaces = if empty || spaces > 4 { 1 } else { spaces };
    Some(ListItem { kind, number, indent: marker + spaces, content: strip_indent(rest, spaces) })
}

/// Whether an item's text says that it is a task, whether that is done, and the text after.
pub(super) fn task(text: &str) -> Option<(bool, &str)> {
    let done = match text.get(..4)? {
        "[ ] " => false,
        "[x] " | "[X] " => true,
        _ => return None,
    };
    Some((done, text.get(4..)?))
}

/// Elements that begin a block of HTML wherever they stand.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Elements whose content is taken as it is.
const RAW: &[&str] = &["script", "pre", "style", "textarea"];

/// A block of HTML, by how it ends.
pub(super) fn html(line: &str, within_paragraph: bool) -> Option<HtmlEnd> {
    let rest = line.strip_prefix('<')?;
    if rest.starts_with("!--") {
        return Some(HtmlEnd::Text("-->"));
    }
    if rest.starts_with('?') {
        return Some(HtmlEnd::Text("?>"));
    }
    if rest.starts_with("![CDATA[") {
        return Some(HtmlEnd::Text("]]>"));
    }
    if rest.strip_prefix('!').is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_alphabetic())) {
        return Some(HtmlEnd::Text(">"));
    }
    let (closing, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let end = rest.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-').unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    if !name.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let ends_name = after.is_empty() || after.starts_with([' ', '>']);
    if !closing && ends_name && RAW.contains(&name.as_str()) {
        return Some(HtmlEnd::RawElement);
    }
    if (ends_name || after.starts_with("/>")) && BLOCKS.contains(&name.as_str()) {
        return Some(HtmlEnd::BlankLine);
    }
    // Any other element, alone on its line.
    let alone = after.starts_with([' ', '>', '/'])
        && after.trim_end().strip_suffix('>').is_some_and(|inner| !inner.contains(['<', '>']));
    (alone && !within_paragraph).then_some(HtmlEnd::BlankLine)
}

impl HtmlEnd {
    /// Whether this line is the last one. Blank lines are the caller's.
    pub(super) fn is_met_by(self, line: &str) -> bool {
        match self {
            HtmlEnd::BlankLine => false,
            HtmlEnd::Text(text) => line.contains(text),
            HtmlEnd::RawElement => {
                let line = line.to_ascii_lowercase();
                RAW.iter().any(|name| line.contains(&format!("</{name}>")))
            }
        }
    }
}

/// The line under a table's heading: one side for each column.
pub(super) fn delimiters(line: &str) -> Option<Vec<Side>> {
    if !line.contains('-') || !line.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' ')) {
        return None;
    }
    // Without a bar a line of dashes is a rule or an underline.
    if !line.contains(['|', ':']) {
        return None;
    }
    let side = |cell: &String| {
        let inner = cell.strip_prefix(':').unwrap_or(cell);
        let inner = inner.strip_suffix(':').unwrap_or(inner);
        if inner.is_empty() || !inner.chars().all(|sign| sign == '-') {
            return None;
        }
        Some(match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Side::Centre,
            (false, true) => Side::Right,
            (true | false, false) => Side::Left,
        })
    };
    cells(line).iter().map(side).collect()
}

/// The cells of a table's line.
pub(super) fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'|') => {
                characters.next();
                cell.push('|');
            }
            '\\' => {
                cell.push(character);
                cell.extend(characters.next());
            }
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(character),
        }
    }
    if !cell.trim().is_empty() || cells.is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

/// A link's address given under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Definition<'a> {
    pub(super) label: &'a str,
    pub(super) target: &'a str,
}

/// A definition that stands on one line, as they nearly always do.
pub(super) fn definition(line: &str) -> Option<Definition<'_>> {
    let (label, rest) = line.strip_prefix('[')?.split_once("]:")?;
    if label.trim().is_empty() || label.contains(['[', ']']) || label.len() > 999 {
        return None;
    }
    let rest = rest.trim();
    let (target, title) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?,
        None => rest.split_once(' ').unwrap_or((rest, "")),
    };
    let title = title.trim();
    let quoted = |open, close| title.len() > 1 && title.starts_with(open) && title.ends_with(close);
    if target.is_empty() || !(title.is_empty() || quoted('"', '"') || quoted('\'', '\'') || quoted('(', ')')) {
        return None;
    }
    Some(Definition { label, target })
}

#[cfg(test)]
#[path = "starts_tests.rs"]
mod tests;
