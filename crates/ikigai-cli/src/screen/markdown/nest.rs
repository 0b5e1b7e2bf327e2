//! The quotes and lists around a block of text.

use super::starts::{self, ListItem, ListKind};
use crate::screen::look::{DIM, Look};
use crate::screen::text::{Inline, Row, Span, fill, width};

/// How deep lists and quotes may nest.
pub(super) const DEEPEST: usize = 24;

/// Something that holds blocks.
#[derive(Debug, Clone)]
pub(super) enum Container {
    Quote {
        /// Whether a block has begun in it.
        used: bool,
    },
    List {
        kind: ListKind,
        /// The number of the next item.
        next: u64,
    },
    Item(Item),
}

/// An item of a list.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// How far its content stands in, in the source.
    indent: usize,
    /// What is drawn before its first line.
    marker: String,
    /// Whether the marker has been drawn.
    drawn: bool,
    /// Whether a block has begun in it.
    used: bool,
    /// Whether it is the first of its list.
    first: bool,
}

/// The open containers, from the outside in.
#[derive(Debug, Clone, Default)]
pub(super) struct Nest {
    open: Vec<Container>,
    /// A blank line came after the last block.
    blank: bool,
    /// A block has begun somewhere.
    used: bool,
}

impl Nest {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn push(&mut self, container: Container) {
        self.open.push(container);
    }

    pub(super) fn pop(&mut self) {
        self.open.pop();
    }

    /// Whether one more may be opened within the first `matched`. An item comes with its list.
    pub(super) fn has_room(&self, matched: usize) -> bool {
        matched + 1 < DEEPEST
    }

    /// Notes a blank line.
    pub(super) fn blank(&mut self) {
        self.blank = true;
    }

    /// Notes that the last block goes on after a blank line.
    pub(super) fn goes_on(&mut self) {
        self.blank = false;
    }

    /// How many of the open containers the line goes on in, and what is left of it there.
    pub(super) fn follow<'a>(&self, line: &'a str) -> (usize, &'a str) {
        let mut rest = line;
        for (place, container) in self.open.iter().enumerate() {
            let indent = starts::indent(rest);
            match container {
                Container::Quote { .. } => {
                    match (indent < 4).then(|| starts::quote(starts::strip_indent(rest, indent))).flatten() {
                        Some(inner) => rest = inner,
                        None => return (place, rest),
                    }
                }
                // A list goes on as long as one of its items does, or another one begins.
                Container::List { .. } => {}
                // An item may begin with one blank line, not with two.
                Container::Item(item) if rest.trim().is_empty() && item.used => {}
                Container::Item(item) if indent >= item.indent && !rest.trim().is_empty() => {
                    rest = starts::strip_indent(rest, item.indent);
                }
                Container::Item(_) => return (place, rest),
            }
        }
        (self.open.len(), rest)
    }

    /// Opens an item, in the innermost list if it is of that kind.
    pub(super) fn item(&mut self, item: &ListItem<'_>, indent: usize, look: Look) {
        let goes_on = match self.open.last() {
            Some(Container::List { kind, .. }) => *kind == item.kind,
            Some(Container::Quote { .. } | Container::Item(_)) | None => false,
        };
        if !goes_on {
            self.leave_list();
            self.open.push(Container::List { kind: item.kind, next: item.number });
        }
        let depth = self.open.iter().filter(|open| matches!(open, Container::Item(_))).count();
        let Some(Container::List { next, .. }) = self.open.last_mut() else { return };
        let marker = match item.kind {
            ListKind::Bullet(_) if depth.is_multiple_of(2) => look.sign("• ", "- ").to_owned(),
            ListKind::Bullet(_) => look.sign("◦ ", "* ").to_owned(),
            ListKind::Numbered(sign) => format!("{next}{sign} "),
        };
        *next += 1;
        let indent = indent + item.indent;
        self.open.push(Container::Item(Item { indent, marker, drawn: false, used: false, first: !goes_on }));
    }

    /// Closes the list that no item is open in.
    pub(super) fn leave_list(&mut self) {
        if let Some(Container::List { .. }) = self.open.last() {
            self.open.pop();
        }
    }

    /// Whether the next line drawn is the first of an item.
    pub(super) fn is_at_marker(&self) -> bool {
        matches!(self.open.last(), Some(Container::Item(item)) if !item.drawn)
    }

    /// Makes the innermost item a task.
    pub(super) fn task(&mut self, done: bool, look: Look) {
        if let Some(Container::Item(item)) = self.open.last_mut() {
            let sign = if done { look.sign("☑ ", "[x] ") } else { look.sign("☐ ", "[ ] ") };
            if item.marker.starts_with(|start: char| start.is_ascii_digit()) {
                item.marker.push_str(sign);
            } else {
                item.marker = sign.to_owned();
            }
        }
    }

    /// Notes that a block begins in the innermost container. Where a blank line belongs before it, what stands at the
    /// beginning of that line.
    pub(super) fn use_all(&mut self, look: Look) -> Option<Row> {
        let fresh = self.open.iter().position(|container| match container {
            Container::Quote { used } => !used,
            Container::Item(item) => !item.used,
            Container::List { .. } => false,
        });
        // The block comes after another one in the container outside of the first that is new.
        let outside = match fresh.and_then(|place| self.open.get(place)) {
            Some(Container::Item(item)) if !item.first => Beside::Items,
            Some(Container::Item(_)) => self.beside(fresh.unwrap_or(0).saturating_sub(1)),
            Some(Container::Quote { .. } | Container::List { .. }) => self.beside(fresh.unwrap_or(0)),
            None => self.beside(self.open.len()),
        };
        let gap = self.used && (self.blank || outside == Beside::Blocks);
        let prefix = gap.then(|| {
            let open = self.open.iter().take(fresh.unwrap_or(self.open.len()));
            open.filter_map(|container| Part::new(container, look)).map(|part| part.span).collect()
        });
        for container in &mut self.open {
            match container {
                Container::Quote { used } => *used = true,
                Container::Item(item) => item.used = true,
                Container::List { .. } => {}
            }
        }
        self.used = true;
        self.blank = false;
        prefix
    }

    /// What the blocks directly within the first `depth` containers are to each other.
    fn beside(&self, depth: usize) -> Beside {
        match depth.checked_sub(1).and_then(|place| self.open.get(place)) {
            Some(Container::Item(_)) => Beside::Items,
            Some(Container::Quote { .. } | Container::List { .. }) | None => Beside::Blocks,
        }
    }

    /// The columns left within the innermost container.
    pub(super) fn inner_width(&self, look: Look) -> usize {
        let (_, inner) = self.parts(look);
        look.width.saturating_sub(inner.iter().map(Part::width).sum())
    }

    /// A row with what stands before it. Markers that leave no room for it get a line of their own.
    pub(super) fn place(&mut self, row: Row, look: Look) -> Vec<Row> {
        let (outer, inner) = self.parts(look);
        let markers: Vec<Inline> =
            outer.into_iter().filter(|part| part.is_marker).map(|part| Inline::Text(part.span)).collect();
        let mut rows = if markers.is_empty() { Vec::new() } else { fill(&markers, look.width) };
        rows.push(inner.into_iter().map(|part| part.span).chain(row).collect());
        for container in &mut self.open {
            if let Container::Item(item) = container {
                item.drawn = true;
            }
        }
        rows
    }

    /// A row of code: only quotes stand before it. A marker that has not been drawn gets a line of its own.
    pub(super) fn place_code(&mut self, row: Row, look: Look) -> Vec<Row> {
        let mut rows = if self.is_at_marker() { self.place(Row::new(), look) } else { Vec::new() };
        let quotes = self.open.iter().filter(|container| matches!(container, Container::Quote { .. }));
        let quotes = quotes.filter_map(|container| Part::new(container, look)).map(|part| part.span);
        rows.push(quotes.chain(row).collect());
        rows
    }

    /// What stands before the next row: first what there is no room for, then what there is.
    fn parts(&self, look: Look) -> (Vec<Part>, Vec<Part>) {
        let mut outer: Vec<Part> = self.open.iter().filter_map(|container| Part::new(container, look)).collect();
        let mut taken = 0;
        // The innermost say most about the text, which needs half of the line at least.
        let fitting = outer.iter().rev().take_while(|part| {
            taken += part.width();
            taken <= look.width / 2
        });
        let inner = outer.split_off(outer.len() - fitting.count());
        (outer, inner)
    }
}

/// What blocks in the same container are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// A blank line is between them.
    Blocks,
    /// A blank line is between them where the source has one.
    Items,
}

/// What one container puts before a row.
struct Part {
    span: Span,
    is_marker: bool,
}

impl Part {
    fn new(container: &Container, look: Look) -> Option<Self> {
        let (span, is_marker) = match container {
            Container::Quote { .. } => (Span::new(look.sign("│ ", "| "), DIM), false),
            Container::List { .. } => return None,
            Container::Item(item) if item.drawn => (Span::plain(&" ".repeat(width(&item.marker))), false),
            Container::Item(item) => (Span::plain(&item.marker), true),
        };
        Some(Part { span, is_marker })
    }

    fn width(&self) -> usize {
        width(self.span.text())
    }
}
