//! The quotes and lists around a block of text.

use super::outline::Outer;
use crate::screen::look::{DIM, Look};
use crate::screen::text::{Inline, Row, Span, fill, width};

/// How deep lists and quotes are shown.
pub(super) const DEEPEST: usize = 24;

/// A block that contains others.
#[derive(Debug)]
pub(super) enum Container {
    Quote {
        /// Whether a block has begun in it.
        used: bool,
    },
    List {
        /// The number of the next item, if they have numbers.
        next: Option<u64>,
        /// Whether an item has begun in it.
        used: bool,
    },
    Item(Item),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
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
#[derive(Debug)]
pub(super) struct Nest {
    open: Vec<Container>,
    /// How many more are open than shown.
    hidden: usize,
    /// Whether a block has begun anywhere.
    pub(super) used: bool,
}

impl Container {
    /// Creates a container that begins, or one that continues from before.
    pub(super) fn new(outer: Outer, used: bool) -> Self {
        match outer {
            Outer::Quote => Container::Quote { used },
            Outer::List { next } => Container::List { next, used },
        }
    }
}

impl Nest {
    /// Creates a nest without containers; `used` says whether the document had blocks before.
    pub(super) fn new(used: bool) -> Self {
        Nest { open: Vec::new(), hidden: 0, used }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn push(&mut self, container: Container) {
        if self.open.len() < DEEPEST && self.hidden == 0 {
            self.open.push(container);
        } else {
            self.hidden += 1;
        }
    }

    pub(super) fn pop(&mut self) {
        match self.hidden.checked_sub(1) {
            Some(hidden) => self.hidden = hidden,
            None => drop(self.open.pop()),
        }
    }

    /// Opens an item in the innermost list. `sign` follows its number.
    pub(super) fn item(&mut self, sign: char, look: Look) {
        let depth = self.open.iter().filter(|open| matches!(open, Container::Item(_))).count();
        let (marker, first) = match self.open.last_mut() {
            Some(Container::List { next, used }) => {
                let marker = match next {
                    None if depth.is_multiple_of(2) => look.sign("• ", "- ").to_owned(),
                    None => look.sign("◦ ", "* ").to_owned(),
                    Some(number) => format!("{number}{sign} "),
                };
                *next = next.map(|number| number + 1);
                (marker, !std::mem::replace(used, true))
            }
            // In a list that is not shown.
            Some(Container::Quote { .. } | Container::Item(_)) | None => (String::new(), true),
        };
        self.push(Container::Item(Item { marker, drawn: false, used: false, first }));
    }

    /// Returns whether the next line drawn is the first of an item.
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

    /// Notes that a block begins in the innermost container; `blank` says whether there is a blank line before it in the
    /// source. If it needs one on the screen, returns the beginning of that line.
    pub(super) fn use_all(&mut self, blank: bool, look: Look) -> Option<Row> {
        let fresh = self.open.iter().position(|container| match container {
            Container::Quote { used } => !used,
            Container::Item(item) => !item.used,
            Container::List { .. } => false,
        });
        // The first block in its container follows what came before the container. In an item, and between items, blank
        // lines are those of the source.
        let outside = match fresh.and_then(|place| self.open.get(place).map(|container| (place, container))) {
            Some((place, Container::Item(item))) if item.first => place.saturating_sub(1),
            Some((place, Container::Item(_))) => place + 1,
            Some((place, Container::Quote { .. } | Container::List { .. })) => place,
            None => self.open.len(),
        };
        let loose = !matches!(outside.checked_sub(1).and_then(|place| self.open.get(place)), Some(Container::Item(_)));
        let gap = self.used && (blank || loose);
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
        prefix
    }

    /// Returns the columns available in the innermost container.
    pub(super) fn inner_width(&self, look: Look) -> usize {
        let (_, inner) = self.parts(look);
        look.width.saturating_sub(inner.iter().map(Part::width).sum())
    }

    /// Returns a row with what comes before it. Markers that would leave no room for it get a separate line.
    pub(super) fn place(&mut self, row: Row, look: Look) -> Vec<Row> {
        let (outer, inner) = self.parts(look);
        let markers: Vec<Inline> =
            outer.into_iter().filter(|part| part.is_marker).map(|part| Inline::Text(part.span)).collect();
        let mut rows = if markers.is_empty() { Vec::new() } else { fill(&markers, look.width) };
        rows.push(inner.into_iter().map(|part| part.span).chain(row).collect());
        self.set_drawn();
        rows
    }

    /// Notes that the markers have been drawn.
    pub(super) fn set_drawn(&mut self) {
        for container in &mut self.open {
            if let Container::Item(item) = container {
                item.drawn = true;
            }
        }
    }

    /// Returns a row of code: only quotes come before it. A marker that has not been drawn gets a separate line.
    pub(super) fn place_code(&mut self, row: Row, look: Look) -> Vec<Row> {
        let mut rows = if self.is_at_marker() { self.place(Row::new(), look) } else { Vec::new() };
        let quotes = self.open.iter().filter(|container| matches!(container, Container::Quote { .. }));
        let quotes = quotes.filter_map(|container| Part::new(container, look)).map(|part| part.span);
        rows.push(quotes.chain(row).collect());
        rows
    }

    /// Returns what comes before the next row: first the parts that do not fit, then those that do.
    fn parts(&self, look: Look) -> (Vec<Part>, Vec<Part>) {
        let mut outer: Vec<Part> = self.open.iter().filter_map(|container| Part::new(container, look)).collect();
        let mut taken = 0;
        // The innermost parts say most about the text, which needs at least half of the line.
        let fitting = outer.iter().rev().take_while(|part| {
            taken += part.width();
            taken <= look.width / 2
        });
        let inner = outer.split_off(outer.len() - fitting.count());
        (outer, inner)
    }
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
