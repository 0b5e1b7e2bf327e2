//! Output: the answer goes to standard output, everything else to standard error.

use std::time::{Duration, Instant};

use ikigai::{Answer, Attempt, Event, Money, Response, ToolCall, ToolResult, Usage};
use serde_json::Value;

use super::{Ask, Format, on_terminal};
use crate::access::SIMULATOR;
use crate::chat::{Meter, View};
use crate::exit::Failure;
use crate::output::Out;
use crate::screen::{self, Look, Region, notice};

/// The destination and format of the answer.
pub(super) struct Emit<'o> {
    out: &'o mut Out,
    format: Format,
    /// Draws the answer on a terminal, if there is one.
    view: Option<View>,
    look: Look,
    thinking: bool,
    usage: bool,
    extract: bool,
    /// Whether the text is printed as it arrives, or else once it is complete.
    streams: bool,
    began: Instant,
    /// When the first piece of the answer arrived.
    first: Option<Duration>,
    /// Whether the last output ended with a line break.
    at_line_start: bool,
    /// Whether thinking was the last output on standard error.
    in_thinking: bool,
}

impl<'o> Emit<'o> {
    pub(super) fn new(ask: &Ask, out: &'o mut Out) -> Self {
        let format = format(ask);
        let size = crate::chat::size();
        let look = Look::of_stdout(size.columns);
        let draws = format == Format::Markdown && !ask.no_stream && !ask.extract && ask.schema.is_none();
        let region = Region::detect(on_terminal(), |name| std::env::var(name).ok());
        let drawn = if region == Region::Live { look.with_links(|name| std::env::var(name).ok()) } else { look };
        let view = draws.then(|| View::new(drawn, size, region, ask.thinking));
        Emit {
            out,
            format,
            view,
            look,
            thinking: ask.thinking,
            usage: ask.usage,
            extract: ask.extract,
            streams: !ask.no_stream && !ask.extract && ask.schema.is_none(),
            began: Instant::now(),
            first: None,
            at_line_start: true,
            in_thinking: false,
        }
    }

    pub(super) fn begin(&mut self, meter: Meter) -> Result<(), Failure> {
        self.began = Instant::now();
        match &mut self.view {
            Some(view) => view.begin(meter),
            None => Ok(()),
        }
    }

    /// Prints the next event of the answer.
    pub(super) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if matches!(event, Event::TextDelta { .. } | Event::ThinkingDelta { .. } | Event::ToolCallStart { .. }) {
            self.first.get_or_insert_with(|| self.began.elapsed());
        }
        if let Some(view) = &mut self.view {
            return view.event(event);
        }
        match (self.format, event) {
            (Format::Jsonl, event) => {
                self.out.json_line(event)?;
                self.out.flush()
            }
            (Format::Text, Event::TextDelta { text, .. }) if self.streams => {
                self.end_thinking();
                self.at_line_start = text.ends_with('\n');
                self.out.data(text.as_bytes())?;
                self.out.flush()
            }
            (_, Event::ThinkingDelta { text, .. }) if self.thinking => {
                self.in_thinking = true;
                self.out.note(&screen::clean(text));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Prints an answer that arrived complete.
    pub(super) fn whole(&mut self, answer: &Answer) -> Result<(), Failure> {
        if self.thinking && !answer.thinking().is_empty() {
            self.out.note(&format!("{}\n", screen::clean(&answer.thinking())));
        }
        match self.format {
            Format::Jsonl => {
                ikigai_core::events(answer.response()).iter().try_for_each(|event| self.out.json_line(event))
            }
            Format::Text | Format::Markdown | Format::Json => Ok(()),
        }
    }

    /// Prints a value that matches a schema.
    pub(super) fn value(&mut self, value: &Value, answer: &Answer) -> Result<(), Failure> {
        match self.format {
            Format::Json => Ok(()),
            Format::Jsonl => self.whole(answer),
            Format::Text | Format::Markdown => {
                // The value is the answer; nothing else is printed at the end.
                self.streams = true;
                self.out.json(value)
            }
        }
    }

    /// Prints the end of a complete answer.
    pub(super) fn end(&mut self, response: &Response, cost: Option<Money>, provider: &str) -> Result<(), Failure> {
        self.end_thinking();
        if let Some(view) = &mut self.view {
            view.end()?;
        }
        let text = response.text();
        match self.format {
            Format::Json => {
                let mut value = serde_json::to_value(response)
                    .map_err(|error| Failure::new(format!("cannot print the result as JSON: {error}")))?;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("provider".to_owned(), provider.into());
                    if provider == SIMULATOR {
                        fields.insert("simulated".to_owned(), true.into());
                    }
                    if let Some(first) = self.first.and_then(|first| u64::try_from(first.as_millis()).ok()) {
                        fields.insert("time_to_first_token_ms".to_owned(), first.into());
                    }
                    // Unknown prices are left out.
                    if let Some(Ok(cost)) = cost.map(serde_json::to_value) {
                        fields.insert("cost".to_owned(), cost);
                    }
                }
                self.out.json(&value)?;
            }
            Format::Jsonl => {}
            Format::Text | Format::Markdown if self.extract => {
                let code = screen::blocks(&text).into_iter().next();
                let code =
                    code.ok_or_else(|| Failure::new("the answer has no code block").hint("Leave out -x to see it."))?;
                self.out.data(code.as_bytes())?;
                self.out.data(b"\n")?;
            }
            Format::Text if self.streams => {
                if !self.at_line_start {
                    self.out.data(b"\n")?;
                }
            }
            Format::Markdown if self.streams => {}
            Format::Text => self.out.data(format!("{}\n", text.trim_end_matches('\n')).as_bytes())?,
            Format::Markdown => {
                self.out.text(&screen::sources::answer(&response.content, &response.sources, self.look))?;
            }
        }
        self.out.flush()?;
        if self.usage {
            self.out.note(&format!("{}\n", took(response.usage.as_ref(), cost, self.began.elapsed())));
        }
        Ok(())
    }

    /// Ends an incomplete answer; what had arrived is on the screen.
    pub(super) fn broken(&mut self) -> Result<(), Failure> {
        self.end_thinking();
        match &mut self.view {
            Some(view) => view.end(),
            None => {
                if !self.at_line_start {
                    // Whether anyone receives this no longer matters.
                    let _ = self.out.data(b"\n");
                }
                Ok(())
            }
        }
    }

    pub(super) fn draw(&mut self) -> Result<(), Failure> {
        match &mut self.view {
            Some(view) => view.draw(),
            None => Ok(()),
        }
    }

    pub(super) fn paid(&mut self, usage: Option<&Usage>, cost: Option<Money>) {
        if let Some(view) = &mut self.view {
            view.paid(usage, cost);
        }
    }

    pub(super) fn retry(&mut self, attempt: &Attempt, wait: Duration, made: u32, most: u32) {
        match &mut self.view {
            Some(view) => view.retry(attempt, wait, made, most),
            None => {
                let words = format!(
                    "{}. Retrying in {} (attempt {} of {most})",
                    notice::failed_attempt(attempt),
                    notice::took(wait),
                    made + 1
                );
                self.out.warning(&words);
            }
        }
    }

    pub(super) fn call(&mut self, line: &str, allowed: bool) -> Result<(), Failure> {
        let words = if allowed { "" } else { " · not allowed" };
        match &mut self.view {
            Some(view) => view.running(&format!("{line}{words}")),
            None => {
                self.out.note(&format!("● {line}{words}\n"));
                Ok(())
            }
        }
    }

    pub(super) fn result(&mut self, call: &ToolCall, result: &ToolResult) -> Result<(), Failure> {
        match &mut self.view {
            Some(view) => view.result(call, result),
            None => Ok(()),
        }
    }

    pub(super) fn warning(&mut self, words: &str) {
        self.out.warning(words);
    }

    fn end_thinking(&mut self) {
        if std::mem::take(&mut self.in_thinking) {
            self.out.note("\n");
        }
    }
}

/// Returns the format of the answer: the requested one, or the one that suits the output.
pub(super) fn format(ask: &Ask) -> Format {
    match (ask.format, ask.json) {
        (Some(format), _) => format,
        (None, true) => Format::Json,
        (None, false) if on_terminal() => Format::Markdown,
        (None, false) => Format::Text,
    }
}

/// Returns what an answer used and cost, in one line.
fn took(usage: Option<&Usage>, cost: Option<Money>, elapsed: Duration) -> String {
    let mut parts = notice::usage(usage);
    parts.extend(cost.map(notice::money));
    parts.push(notice::took(elapsed));
    parts.join(" · ")
}
