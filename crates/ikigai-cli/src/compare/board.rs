//! Draws the answers: side by side if there is room, otherwise one below the other.

use std::io::Stdout;
use std::time::{Duration, Instant};

use ikigai::Event;

use super::race::{End, News, Ran};
use crate::chat::{Meter, sum};
use crate::exit::Failure;
use crate::output::HEADING;
use crate::screen::status::{self, Status};
use crate::screen::{Frame, Live, Look, Region, Renderer, Size, beside, column_width, notice};

/// The rows of an answer that are not its text: the model and its status.
const HEAD: usize = 2;
/// The rows below all of them: how to stop, and one that stays empty.
const FOOT: usize = 2;
/// The minimum number of text rows per answer.
const FEWEST: usize = 2;

/// The answers as they are drawn.
pub(crate) struct Board {
    look: Look,
    size: Size,
    live: Live<Stdout>,
    columns: Vec<Column>,
    /// The key that stops them.
    stops: &'static str,
}

/// One answer.
struct Column {
    meter: Meter,
    began: Instant,
    heard: Option<Instant>,
    doing: String,
    text: String,
    renderer: Renderer,
    /// Lines that no longer change.
    lines: Vec<String>,
    ended: Option<Ran>,
}

impl Board {
    pub(crate) fn new(look: Look, size: Size, region: Region, meters: Vec<Meter>, stops: &'static str) -> Self {
        let live = Live::new(std::io::stdout(), size, region).reflows(std::env::var_os("XTERM_VERSION").is_none());
        let width = column_width(meters.len(), look).unwrap_or(look.width);
        let columns = meters.into_iter().map(|meter| Column::new(meter, look.with_width(width))).collect();
        Board { look, size, live, columns, stops }
    }

    /// Records what happened to one of them. Drawing comes later.
    pub(crate) fn news(&mut self, place: usize, news: News) {
        if let Some(column) = self.columns.get_mut(place) {
            column.news(news);
        }
    }

    /// Draws what has changed since the last time.
    pub(crate) fn draw(&mut self) -> Result<(), Failure> {
        let (look, count) = (self.look, self.columns.len().max(1));
        let free = self.size.rows.saturating_sub(FOOT);
        let mut open = match column_width(count, look) {
            Some(width) => {
                let room = free.saturating_sub(HEAD).max(FEWEST);
                let cells: Vec<Vec<String>> =
                    self.columns.iter_mut().map(|column| column.shown(room, look.with_width(width))).collect();
                beside(&cells, width, look)
            }
            None => {
                // With a blank line after each.
                let room = (free / count).saturating_sub(HEAD + 1).max(FEWEST);
                let blank = || std::iter::once(String::new());
                self.columns.iter_mut().flat_map(|column| column.shown(room, look).into_iter().chain(blank())).collect()
            }
        };
        open.push(notice::info(&format!("{} stops all", self.stops), look).trim_end().to_owned());
        self.live.draw("", &open).map_err(|error| Failure::writing(&error))
    }

    /// Prints the complete answers, which stay on the screen, when all have ended.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let look = self.look;
        let mut text = String::new();
        match column_width(self.columns.len(), look) {
            Some(width) => {
                let cells: Vec<Vec<String>> =
                    self.columns.iter_mut().map(|column| column.whole(look.with_width(width))).collect();
                for line in beside(&cells, width, look) {
                    text.push_str(&line);
                    text.push('\n');
                }
                text.push('\n');
            }
            None => {
                for column in &mut self.columns {
                    text.push_str(&column.whole(look).join("\n"));
                    text.push_str("\n\n");
                }
            }
        }
        self.live.draw(&text, &[]).and_then(|()| self.live.clear()).map_err(|error| Failure::writing(&error))
    }

    /// Redraws after the program was suspended: what was on the screen is gone.
    pub(crate) fn woken(&mut self) -> Result<(), Failure> {
        self.live.forget();
        self.draw()
    }

    /// Lays everything out anew for another terminal size.
    pub(crate) fn resize(&mut self, size: Size) -> Result<(), Failure> {
        (self.look, self.size) = (self.look.with_width(size.columns), size);
        self.live.resize(size);
        let width = column_width(self.columns.len(), self.look).unwrap_or(self.look.width);
        for column in &mut self.columns {
            column.lay_out(self.look.with_width(width));
        }
        self.draw()
    }

    /// Returns how they ended, in order.
    pub(crate) fn into_ended(self) -> Vec<Option<Ran>> {
        self.columns.into_iter().map(|column| column.ended).collect()
    }
}

impl Column {
    fn new(meter: Meter, look: Look) -> Self {
        Column {
            meter,
            began: Instant::now(),
            heard: None,
            doing: "waiting".to_owned(),
            text: String::new(),
            renderer: Renderer::new(look),
            lines: Vec::new(),
            ended: None,
        }
    }

    fn lay_out(&mut self, look: Look) {
        self.renderer = Renderer::new(look);
        self.lines.clear();
        self.renderer.push(&self.text);
    }

    fn news(&mut self, news: News) {
        match news {
            News::Event(event) => {
                self.heard = Some(Instant::now());
                self.event(&event);
            }
            News::Retry(words) => {
                self.heard = None;
                self.doing = words;
            }
            News::Ended(ran) => {
                self.meter.paid(ran.response.usage.as_ref(), sum(ran.cost, ran.estimate));
                self.ended = Some(*ran);
            }
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Start { .. } => self.meter.begin(),
            Event::ThinkingDelta { text, .. } => {
                self.meter.wrote(text);
                self.doing = "thinking".to_owned();
            }
            Event::TextDelta { text, .. } => {
                self.meter.wrote(text);
                self.renderer.push(text);
                self.text.push_str(text);
                self.doing = "writing".to_owned();
            }
            // Nothing else is shown.
            _ => {}
        }
    }

    /// Returns the model and its status.
    fn head(&self, look: Look) -> Vec<String> {
        let name = crate::screen::shorten(self.meter.model(), look.width, look);
        let name = if look.colour { format!("{HEADING}{name}{HEADING:#}") } else { name };
        let below = match &self.ended {
            Some(ran) => notice::info(&ran.summary(), look).trim_end().to_owned(),
            None => {
                let status = Status {
                    model: "",
                    doing: &self.doing,
                    about: None,
                    elapsed: self.began.elapsed(),
                    silent: self.heard.map_or(Duration::ZERO, |heard| heard.elapsed()),
                    tokens: self.meter.tokens(),
                    cost: self.meter.cost(),
                    stops: "",
                };
                status::row(&status, look)
            }
        };
        [name].into_iter().chain(below.lines().map(str::to_owned)).collect()
    }

    /// Returns the head, and as much of the end as fits.
    fn shown(&mut self, room: usize, look: Look) -> Vec<String> {
        let Frame { finished, open } = self.renderer.frame();
        self.lines.extend(finished.lines().map(str::to_owned));
        let failed = self.failed(look);
        let body: Vec<&String> = self.lines.iter().chain(&open).chain(&failed).collect();
        let hidden = body.len().saturating_sub(room);
        self.head(look).into_iter().chain(body.into_iter().skip(hidden).cloned()).collect()
    }

    /// Returns all of it.
    fn whole(&mut self, look: Look) -> Vec<String> {
        let rest = self.renderer.finish();
        self.lines.extend(rest.lines().map(str::to_owned));
        // Without the blank lines at the end of a document.
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
        let mut lines = self.head(look);
        lines.extend(self.lines.iter().cloned());
        lines.extend(self.failed(look));
        lines
    }

    fn failed(&self, look: Look) -> Vec<String> {
        match &self.ended {
            Some(Ran { end: End::Failed(failure), .. }) => {
                notice::error(&failure.what, failure.hint.as_deref(), look).lines().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Ran {
    /// Returns what it used, in one line.
    pub(crate) fn summary(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(match self.end {
            End::Whole => None,
            End::Stopped => Some("stopped".to_owned()),
            End::Failed(_) => Some("failed".to_owned()),
        });
        // An answer that was stopped before the provider counted has no count.
        parts.extend(notice::usage(self.response.usage.as_ref().filter(|usage| usage.total_tokens() > 0)));
        parts.extend(sum(self.cost, self.estimate).map(|cost| notice::about(cost, self.estimate.is_some())));
        parts.push(format!("{:.1} s", self.took.as_secs_f64()));
        parts.join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use ikigai::{Response, Usage};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_summary_says_how_it_ended_and_what_it_took() {
        let ran = |end: End, usage: Option<Usage>| {
            let (cost, estimate) = match end {
                End::Whole => ("0.00125".parse().ok(), None),
                End::Stopped | End::Failed(_) => (None, "0.00125".parse().ok()),
            };
            let mut response = Response::default();
            response.usage = usage;
            Ran { response, cost, estimate, took: Duration::from_millis(1240), end }.summary()
        };
        let usage = Usage::new(12, 1000);
        assert_eq!(ran(End::Whole, Some(usage)), "12 in · 1,000 out · $0.0013 · 1.2 s");
        assert_eq!(ran(End::Stopped, Some(Usage::default())), "stopped · ~$0.0013 · 1.2 s");
        assert_eq!(ran(End::Failed(Failure::new("x")), None), "failed · ~$0.0013 · 1.2 s");
    }
}
