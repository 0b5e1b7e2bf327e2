//! The screen during a turn: finished text above, and below it what still changes.

use std::io::Stdout;
use std::time::{Duration, Instant};

use ikigai::{
    Attempt, Block, Event, Footnotes, FoundSource, Money, ProviderCall, ProviderTool, ToolCall, ToolResult, Usage,
};

use super::keys::forget_typed;
use super::meter::{BYTES_A_TOKEN, Meter};
use super::question::Question;
use crate::exit::Failure;
use crate::screen::shorten;
use crate::screen::status::Status;
use crate::screen::{Frame, Live, Look, Region, Renderer, Size, clean, notice, sources, status, thinking};
use crate::tools::{Described, Rule};

/// How many lines of a tool's result are shown.
const RESULT_LINES: notice::Lines = notice::Lines(4);

/// The screen during a turn.
pub(crate) struct View {
    look: Look,
    live: Live<Stdout>,
    size: Size,
    region: Region,
    /// A call that waits for the user's decision.
    pub(super) question: Option<Question>,
    markdown: Renderer,
    phase: Phase,
    meter: Meter,
    began: Instant,
    /// When the last event arrived; `None` before the first.
    heard: Option<Instant>,
    first_text: Option<Duration>,
    thought: Thought,
    show_thinking: bool,
    /// What was typed meanwhile: complete lines, which wait for their turn, and an unfinished one.
    queued: Vec<String>,
    typed: String,
    /// The sources that the answer cites, and those that it was given without citing them.
    notes: Footnotes,
    found: Vec<FoundSource>,
    /// Calls of the provider's tools that are being written, by their index.
    calls: Vec<(usize, ProviderCall)>,
    /// Whether the last thing above is text of the answer, which ends with a blank line.
    in_text: bool,
}

#[derive(Debug)]
enum Phase {
    Waiting,
    Retrying {
        words: String,
        until: Instant,
        next: u32,
        most: u32,
    },
    Thinking,
    Writing,
    Busy(String),
    /// The provider is running one of its own tools.
    Provider {
        doing: &'static str,
        about: Option<String>,
    },
}

/// The thinking of the current answer.
#[derive(Debug, Default)]
struct Thought {
    text: String,
    began: Option<Instant>,
    took: Duration,
    tokens: Option<u64>,
}

impl View {
    pub(crate) fn new(look: Look, size: Size, region: Region, show_thinking: bool) -> Self {
        View {
            look,
            live: Live::new(std::io::stdout(), size, region).reflows(std::env::var_os("XTERM_VERSION").is_none()),
            size,
            region,
            question: None,
            markdown: Renderer::new(look),
            phase: Phase::Waiting,
            meter: Meter::default(),
            began: Instant::now(),
            heard: None,
            first_text: None,
            thought: Thought::default(),
            show_thinking,
            queued: Vec::new(),
            typed: String::new(),
            notes: sources::footnotes(),
            found: Vec::new(),
            calls: Vec::new(),
            in_text: false,
        }
    }

    /// Begins a turn.
    pub(crate) fn begin(&mut self, meter: Meter) -> Result<(), Failure> {
        self.meter = meter;
        self.heard = None;
        self.began = Instant::now();
        self.first_text = None;
        self.phase = Phase::Waiting;
        self.draw()
    }

    /// Shows that something other than a turn is running.
    pub(crate) fn busy(&mut self, what: &str) -> Result<(), Failure> {
        self.meter = Meter::new(String::new(), None, 0, "Esc");
        self.began = Instant::now();
        self.phase = Phase::Busy(what.to_owned());
        self.draw()
    }

    /// Handles the next event of the answer. Drawing comes later, because events arrive faster than anyone can see.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        self.heard = Some(Instant::now());
        let text = self.notes.event(event);
        // Spaces held back for text that has already ended are not shown.
        if self.in_text || !text.trim().is_empty() {
            self.markdown.push(&text);
            self.in_text = true;
        }
        match event {
            Event::Start { .. } => {
                self.meter.begin();
                self.phase = Phase::Waiting;
            }
            Event::ThinkingDelta { text, .. } => {
                self.meter.wrote(text);
                self.thought.began.get_or_insert_with(Instant::now);
                self.thought.text.push_str(text);
                self.phase = Phase::Thinking;
            }
            Event::TextDelta { text, .. } => {
                self.end_thinking()?;
                self.first_text.get_or_insert_with(|| self.began.elapsed());
                self.meter.wrote(text);
                self.in_text = true;
                self.phase = Phase::Writing;
            }
            Event::BlockStart { index, block: Block::ProviderCall(call) } => {
                self.end_thinking()?;
                self.end_text()?;
                self.phase = provider_phase(call);
                self.calls.push((*index, call.clone()));
            }
            Event::BlockReplaced { index, block: Block::ProviderCall(call) } => {
                self.phase = provider_phase(call);
                self.calls.retain(|(place, _)| place != index);
                self.calls.push((*index, call.clone()));
            }
            Event::BlockDone { index, .. } => {
                if let Some(place) = self.calls.iter().position(|(place, _)| place == index) {
                    let (_, call) = self.calls.remove(place);
                    self.print(&sources::called(&call, self.look))?;
                }
            }
            Event::BlockStart { block: Block::ProviderResult(result), .. }
            | Event::BlockReplaced { block: Block::ProviderResult(result), .. } => {
                self.print(&sources::failed(result, self.look))?;
                self.phase = Phase::Waiting;
            }
            Event::Sources { sources } => self.found.clone_from(sources),
            Event::ToolCallStart { name, .. } => {
                self.end_thinking()?;
                self.end_text()?;
                self.phase = Phase::Busy(format!("calling {name}"));
            }
            Event::Usage { usage } => self.thought.tokens = Some(usage.thinking_tokens).filter(|tokens| *tokens > 0),
            Event::Done { .. } => {
                self.end_thinking()?;
                self.end_answer()?;
                self.phase = Phase::Waiting;
            }
            Event::ToolCallDelta { arguments, .. } => self.meter.wrote(arguments),
            Event::BlockStart { .. }
            | Event::BlockReplaced { .. }
            | Event::Citation { .. }
            | Event::ToolCallDone { .. }
            | Event::Error { .. }
            | Event::Other { .. } => {}
            // Events that do not exist yet have nothing to show.
            _ => {}
        }
        Ok(())
    }

    /// Records the usage and cost of a completed request.
    pub(crate) fn paid(&mut self, usage: Option<&Usage>, cost: Option<Money>) {
        self.meter.paid(usage, cost);
    }

    /// Shows that an attempt failed and the next one waits.
    pub(crate) fn retry(&mut self, attempt: &Attempt, wait: Duration, made: u32, most: u32) {
        let words = notice::failed_attempt(attempt);
        self.heard = None;
        self.phase = Phase::Retrying { words, until: Instant::now() + wait, next: made + 1, most };
    }

    /// Shows a tool's call and waits for its result.
    pub(crate) fn running(&mut self, line: &str) -> Result<(), Failure> {
        self.print(&notice::info(&format!("● {line}"), self.look))?;
        self.phase = Phase::Busy(format!("running {}", line.split(' ').next().unwrap_or(line)));
        self.draw()
    }

    /// Shows a call that is not run. Its result says why.
    pub(crate) fn refused(&mut self, line: &str) -> Result<(), Failure> {
        self.print(&notice::info(&format!("● {line} · refused"), self.look))?;
        self.draw()
    }

    /// Asks whether a call may be run.
    pub(crate) fn ask(&mut self, name: &str, told: Described, always: Option<Rule>) -> Result<(), Failure> {
        if self.region == Region::Live {
            self.question = Some(Question::new(name, told, always, self.look, self.size, Instant::now()));
            return self.draw();
        }
        // When printed, all of it is on the screen.
        forget_typed();
        let size = Size { rows: usize::MAX, ..self.size };
        let question = Question::new(name, told, always, self.look, size, Instant::now());
        self.print(&(question.whole(self.look).join("\n") + "\n"))?;
        self.question = Some(question);
        Ok(())
    }

    /// On a print-only terminal, says what the question is waiting for; otherwise draws it.
    pub(crate) fn asked_on(&mut self) -> Result<(), Failure> {
        match &self.question {
            Some(question) if self.region == Region::Plain && question.wants_reason() => {
                self.print("  Why not? Type a line.\n")
            }
            _ => self.draw(),
        }
    }

    /// Shows the answer to the question.
    pub(crate) fn answered(&mut self, question: &Question, words: &str) -> Result<(), Failure> {
        let line = &question.told().line;
        self.print(&notice::info(&format!("● {line} · {words}"), self.look))?;
        self.print(&question.kept(self.look))?;
        self.phase = Phase::Busy(format!("running {}", line.split(' ').next().unwrap_or(line)));
        self.draw()
    }

    /// Shows a tool's result, folded.
    pub(crate) fn result(&mut self, call: &ToolCall, result: &ToolResult) -> Result<(), Failure> {
        let text: String = result.content.iter().filter_map(|block| block.as_text()).collect();
        let text = if text.trim().is_empty() { "(no text)" } else { text.trim_end() };
        if result.is_error {
            self.print(&notice::error(&format!("{}: {}", call.name, first_line(text)), None, self.look))?;
        } else {
            self.print(&notice::folded(text, RESULT_LINES, self.look))?;
        }
        self.heard = None;
        self.phase = Phase::Waiting;
        self.draw()
    }

    /// Prints text above the changing part.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.live.draw(text, &[]).map_err(|error| Failure::writing(&error))
    }

    /// Prints a warning.
    pub(crate) fn warn(&mut self, words: &str) -> Result<(), Failure> {
        self.print(&notice::warning(words, self.look))
    }

    /// Reports something that cannot be done now.
    pub(crate) fn refuse(&mut self, what: &str, hint: &str) -> Result<(), Failure> {
        self.print(&notice::error(what, Some(hint), self.look))?;
        self.draw()
    }

    /// Shows below what has been typed so far.
    pub(crate) fn type_line(&mut self, typed: &str, queued: &[String]) -> Result<(), Failure> {
        typed.clone_into(&mut self.typed);
        queued.clone_into(&mut self.queued);
        self.draw()
    }

    /// Redraws after the program was suspended: what was on the screen is gone.
    pub(crate) fn woken(&mut self) -> Result<(), Failure> {
        self.live.forget();
        self.draw()
    }

    /// Adapts to another terminal size.
    pub(crate) fn resize(&mut self, size: Size) -> Result<(), Failure> {
        self.look = self.look.with_width(size.columns);
        self.size = size;
        self.live.resize(size);
        if let Some(question) = &mut self.question {
            question.resize(self.look, size);
        }
        self.markdown.resize(self.look.width);
        self.draw()
    }

    /// Draws what has changed since the last time.
    pub(crate) fn draw(&mut self) -> Result<(), Failure> {
        let Frame { finished, mut open } =
            if self.in_text { self.markdown.frame() } else { Frame { finished: String::new(), open: Vec::new() } };
        if let Some(question) = &self.question {
            open.extend(question.lines(&self.typed, self.look, Instant::now()));
        }
        match &self.phase {
            _ if self.question.is_some() => {}
            Phase::Writing => open.push(self.status("writing", None)),
            Phase::Waiting => open.push(self.status("waiting", None)),
            Phase::Thinking => open.push(self.status("thinking", status::heading(&self.thought.text))),
            Phase::Busy(what) => open.push(self.status(what, None)),
            Phase::Provider { doing, about } => open.push(self.status(doing, about.as_deref())),
            Phase::Retrying { words, until, next, most } => {
                let left = until.saturating_duration_since(Instant::now()).as_secs_f64().ceil();
                let left = notice::duration(Duration::from_secs_f64(left));
                let words = format!("{words}. Retrying in {left} (attempt {next} of {most})");
                open.extend(notice::warning(&words, self.look).lines().map(str::to_owned));
            }
        }
        for (place, line) in self.queued.iter().enumerate() {
            let last = if place + 1 == self.queued.len() { " (Up takes it back)" } else { "" };
            let room = self.look.width.saturating_sub(10 + last.len());
            open.push(
                notice::info(&format!("  queued: {}{last}", shorten(line, room, self.look)), self.look)
                    .trim_end()
                    .to_owned(),
            );
        }
        if !self.typed.is_empty() {
            open.push(format!("› {}▏", clean(&self.typed)));
        }
        self.live.draw(&finished, &open).map_err(|error| Failure::writing(&error))
    }

    /// Returns the status row.
    fn status(&self, doing: &str, about: Option<&str>) -> String {
        let is_busy = matches!(self.phase, Phase::Busy(_) | Phase::Provider { .. });
        let status = Status {
            model: self.meter.model(),
            doing,
            about,
            elapsed: self.began.elapsed(),
            // A tool may take as long as it needs.
            silent: self.heard.filter(|_| !is_busy).map_or(Duration::ZERO, |heard| heard.elapsed()),
            tokens: self.meter.tokens(),
            cost: self.meter.cost(),
            stops: self.meter.stops(),
        };
        status::row(&status, self.look)
    }

    /// Ends the turn: nothing changes any longer.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        self.end_thinking()?;
        self.end_answer()?;
        self.question = None;
        self.queued.clear();
        self.typed.clear();
        self.live.clear().map_err(|error| Failure::writing(&error))
    }

    /// Prints what the turn used, in one line.
    pub(crate) fn summary(&mut self, usage: Option<&Usage>, cost: Option<String>) -> Result<(), Failure> {
        let mut parts = notice::usage(usage);
        parts.extend(cost);
        parts.push(notice::took(self.began.elapsed()));
        parts.extend(self.first_text.map(|first| format!("first text after {}", notice::took(first))));
        self.print(&notice::info(&parts.join(" · "), self.look))
    }

    fn end_thinking(&mut self) -> Result<(), Failure> {
        if let Some(began) = self.thought.began.take() {
            self.thought.took = began.elapsed();
        }
        if self.thought.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.thought.text);
        let tokens = self.thought.tokens.unwrap_or(text.len() as u64 / BYTES_A_TOKEN);
        let thought = thinking::Thought {
            text: &text,
            elapsed: Some(self.thought.took),
            tokens: Some(tokens),
            estimated: self.thought.tokens.is_none(),
        };
        let shown = if self.show_thinking {
            thinking::expanded(&thought, self.look)
        } else {
            thinking::collapsed(&thought, self.look)
        };
        self.thought.tokens = None;
        self.print(&shown)
    }

    /// Ends the text, and lists its sources below it.
    fn end_answer(&mut self) -> Result<(), Failure> {
        self.end_text()?;
        let notes = std::mem::replace(&mut self.notes, sources::footnotes());
        let found = std::mem::take(&mut self.found);
        self.calls.clear();
        self.print(&sources::list(notes.sources(), &found, self.look))
    }

    fn end_text(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.in_text) {
            return Ok(());
        }
        let rest = self.markdown.finish();
        self.print(&rest)
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// Returns what is shown while the provider runs a tool.
fn provider_phase(call: &ProviderCall) -> Phase {
    let doing = match call.tool {
        ProviderTool::WebSearch => "searching",
        ProviderTool::WebFetch => "reading",
        ProviderTool::CodeExecution => "running code",
        ProviderTool::FileSearch => "searching files",
        ProviderTool::ToolSearch => "looking for tools",
        ProviderTool::ImageGeneration => "drawing",
        // Another tool, or a newer one.
        _ => "using a tool",
    };
    Phase::Provider { doing, about: call.subject().map(|subject| clean(subject).into_owned()) }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
