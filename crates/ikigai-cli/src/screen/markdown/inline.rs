//! Running text: emphasis, code, links.

use std::borrow::Cow;

use anstyle::{Effects, Style};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::definition::unguarded;
use super::outline::OPTIONS;
use crate::screen::links;
use crate::screen::look::{CODE, DIM};
use crate::screen::text::{Inline, Span};

/// Put before the text and removed again: in a paragraph that has begun, with this indentation, nothing is a list, a
/// heading or any other block. So the parser only sees running text, whatever it looks like.
const LEAD: &str = "x\n    ";

/// Parses running text into styled parts. Lines are separated by `\n`.
pub(super) fn inline(text: &str, base: Style) -> Vec<Inline> {
    let mut source = String::with_capacity(LEAD.len() + text.len() + 16);
    source.push_str(LEAD);
    for (place, line) in text.split('\n').enumerate() {
        if place > 0 {
            source.push_str("\n    ");
        }
        source.push_str(line);
    }
    let mut parts = Parts::new(base);
    for (event, place) in Parser::new_ext(&source, OPTIONS).into_offset_iter() {
        // The paragraph itself begins in the lead and ends after the text: both events mean nothing.
        if place.end > LEAD.len() || matches!(event, Event::End(_)) {
            parts.event(event);
        }
    }
    parts.found
}

/// Closes code, bold type or a link that is open at the end of unfinished text, so that it is shown as what it will most
/// likely be, and nothing jumps when it is.
pub(super) fn completed(text: &str) -> Cow<'_, str> {
    if let Some((_, target)) = text.rsplit_once("](")
        && !target.contains([')', ' ', '\n', '<'])
    {
        return Cow::Owned(format!("{text})"));
    }
    let mut rest = text;
    // Where bold type that is still open begins.
    let mut bold = None;
    while let Some(next) = rest.find(['\\', '`', '*']) {
        rest = rest.get(next..).unwrap_or_default();
        let sign = rest.chars().next().unwrap_or_default();
        let after = rest.trim_start_matches(sign);
        let run = rest.len() - after.len();
        match sign {
            '`' => {
                let ticks = "`".repeat(run);
                match closing(after, run) {
                    Some(end) => rest = after.get(end..).unwrap_or_default(),
                    None if after.is_empty() => return Cow::Borrowed(text.get(..text.len() - run).unwrap_or_default()),
                    None => return Cow::Owned(format!("{}{ticks}", text.trim_end_matches('`'))),
                }
            }
            '*' => {
                if run == 2 {
                    bold = if bold.is_some() { None } else { Some(text.len() - rest.len()) };
                }
                rest = after;
            }
            _ => {
                rest = rest.get(1..).map(|rest| rest.strip_prefix(['`', '*', '\\']).unwrap_or(rest)).unwrap_or_default()
            }
        }
    }
    let Some(start) = bold else { return Cow::Borrowed(text) };
    let open = text.trim_end_matches(['*', ' ']);
    if open.len() <= start {
        // The markers have just arrived, with nothing after them.
        return Cow::Borrowed(text.get(..start).unwrap_or_default());
    }
    Cow::Owned(format!("{open}**"))
}

/// Returns where code ends that begins with this many backticks.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut place = 0;
    loop {
        place += text.get(place..)?.find('`')?;
        let rest = text.get(place..)?;
        let length = rest.len() - rest.trim_start_matches('`').len();
        place += length;
        if length == run {
            return Some(place);
        }
    }
}

/// Collects the parts of running text from its events.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) found: Vec<Inline>,
    /// The style of each open element, starting with the base.
    styles: Vec<Style>,
    /// The targets of the open links, and where their text begins.
    links: Vec<(String, usize)>,
}

impl Parts {
    pub(super) fn new(base: Style) -> Self {
        Parts { found: Vec::new(), styles: vec![base], links: Vec::new() }
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => self.text(&text, self.style()),
            Event::Code(text) => self.text(&text, self.with(CODE)),
            Event::InlineMath(text) => self.text(&format!("${text}$"), self.with(CODE)),
            Event::DisplayMath(text) => self.text(&format!("$${text}$$"), self.with(CODE)),
            Event::InlineHtml(tag) if is_line_break(&tag) => self.found.push(Inline::Break),
            Event::Html(tag) | Event::InlineHtml(tag) => self.text(&tag, self.with(DIM)),
            Event::SoftBreak => self.text(" ", self.style()),
            Event::HardBreak => self.found.push(Inline::Break),
            // Not enabled in the options; if they came anyway, their text should be visible.
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]"), self.style()),
            // Not part of running text.
            Event::TaskListMarker(_) | Event::Rule => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let style = match tag {
            Tag::Emphasis => self.style().italic(),
            Tag::Strong => self.style().bold(),
            Tag::Strikethrough => self.style().strikethrough(),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.found.len()));
                self.style().underline()
            }
            Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.found.len()));
                self.text("image: ", self.with(DIM));
                self.style()
            }
            // Only running text is parsed here.
            _ => return,
        };
        self.styles.push(style);
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {}
            TagEnd::Link | TagEnd::Image => {
                if let Some((target, start)) = self.links.pop() {
                    self.target(&target, start);
                }
            }
            // As in `open`.
            _ => return,
        }
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    /// Adds the URL after a link's text, unless the text is the URL.
    fn target(&mut self, target: &str, start: usize) {
        let mut shown = String::new();
        for part in self.found.iter().skip(start) {
            match part {
                Inline::Text(span) => shown.push_str(span.text()),
                Inline::Break => shown.push(' '),
            }
        }
        let same =
            [target, target.trim_start_matches("mailto:"), target.trim_end_matches('/')].contains(&shown.as_str());
        if !same && !target.is_empty() {
            let style = self.with(DIM);
            let space = if shown.is_empty() { "" } else { " " };
            self.text(&format!("{space}("), style);
            self.found.push(Inline::Text(Span::linked(target, style, links::target(target))));
            self.text(")", style);
        }
    }

    /// Adds a styled text. It links to the target of the link around it, or to the URL it contains.
    fn text(&mut self, text: &str, style: Style) {
        let text = &*unguarded(text);
        let span = |text, link| Inline::Text(Span::linked(text, style, link));
        match self.links.last() {
            Some((target, _)) => self.found.push(span(text, links::target(target))),
            None => self.found.extend(links::pieces(text).into_iter().map(|(text, link)| span(text, link))),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Returns the current style combined with another one. Only a link's text is underlined.
    fn with(&self, other: Style) -> Style {
        let style = self.style();
        let effects = style.get_effects() | other.get_effects();
        let effects = if other == DIM { effects.remove(Effects::UNDERLINE) } else { effects };
        style.fg_color(other.get_fg_color().or(style.get_fg_color())).effects(effects)
    }
}

fn is_line_break(tag: &str) -> bool {
    let inner = tag.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    inner.trim().eq_ignore_ascii_case("br")
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
