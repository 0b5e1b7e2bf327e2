//! `ikigai history show`.

use std::io::IsTerminal as _;

use anstyle::Style;
use clap::{Args, ValueEnum};
use ikigai_core::{Block, Message, Role};
use ikigai_store::{Conversation, Entry, State, Store, Stored, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{count, list, when, which};
use crate::conversations;
use crate::exit::Failure;
use crate::output::{DIM, HEADING, Out, WARNING};
use crate::record;
use crate::screen::{self, Look, notice, thinking};

/// How many lines of a tool's output are shown on a terminal.
const TOOL_LINES: notice::Lines = notice::Lines(10);

/// Show a whole conversation
///
/// On a terminal it is drawn as in the chat; in a pipe it is Markdown. An answer that was cut off is marked.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai history show
  ikigai history show 6c2a1b3d --thinking
  ikigai history show last --format markdown > answer.md
  ikigai history show last --json | jq -r '.messages[-1].message.content[] | .text // empty'
  ikigai --color always history show | less -R

On a terminal, and as text, thinking is one line and long results of tools are folded; Markdown and JSON have all of it.")]
pub(crate) struct Show {
    /// Which conversation: the beginning or the end of its id, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    id: String,
    /// Show the thinking in full
    #[arg(long)]
    thinking: bool,
    /// The format
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    format: Option<Format>,
    /// Same as --format json
    #[arg(long)]
    json: bool,
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading and keeping
    Markdown,
    /// With everything that is known of each message
    Json,
    /// As on a terminal, without colours
    Text,
}

pub(crate) async fn run(show: &Show, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    let id = which(store, &show.id).await?;
    let conversation = store.conversation(id).await?;
    let thread = store.thread(id).await?;
    let is_terminal = std::io::stdout().is_terminal();
    let look = Look::of_stdout(out.width().unwrap_or(80));
    let drawn =
        |look: Look, out: &mut Out| out.text(&Page { look, thinking: show.thinking }.draw(&conversation, &thread));
    match show.format.or(show.json.then_some(Format::Json)) {
        Some(Format::Json) => out.json(&record(&conversation, &thread)),
        Some(Format::Text) => drawn(Look { colour: false, styles: false, ..look }, out),
        // Requested colours require the drawn form: Markdown has none.
        None if is_terminal || look.colour => drawn(look, out),
        Some(Format::Markdown) | None => out.data(ikigai_store::markdown(&conversation, &thread).as_bytes()),
    }
}

/// Returns everything known about a conversation and about each of its messages.
fn record(conversation: &Conversation, thread: &[Stored]) -> Map<String, Value> {
    let mut all = list::about(conversation);
    all.insert("system".to_owned(), json!(conversation.system));
    all.insert("metadata".to_owned(), json!(conversation.metadata));
    all.insert("messages".to_owned(), thread.iter().map(|stored| json!(Said::from(stored))).collect());
    all
}

/// A message with everything that is stored along with it.
#[derive(Serialize)]
struct Said<'a> {
    id: String,
    position: u64,
    created: Time,
    updated: Time,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl<'a> From<&'a Stored> for Said<'a> {
    fn from(stored: &'a Stored) -> Self {
        let Stored { id, position, created, updated, entry, .. } = stored;
        Said { id: id.to_string(), position: *position, created: *created, updated: *updated, entry }
    }
}

/// Draws a conversation.
struct Page {
    look: Look,
    /// Whether thinking is shown in full.
    thinking: bool,
}

impl Page {
    fn draw(&self, conversation: &Conversation, thread: &[Stored]) -> String {
        let title = conversation.title.as_deref().unwrap_or("untitled");
        let mut text = self.lines("", title, HEADING);
        let id = conversations::short(conversation.id);
        let about = [when::exact(conversation.updated), count(conversation.messages, "message"), id];
        text.push_str(&self.lines("", &about.join(" · "), DIM));
        let system = Message::new(Role::System, conversation.system.clone()).text();
        if !system.trim().is_empty() {
            text.push_str(&self.lines("", &format!("System: {system}"), DIM));
        }
        for (place, stored) in thread.iter().enumerate() {
            text.push('\n');
            text.push_str(&self.message(stored));
            if let Some(why) = record::failure(stored, thread.get(place + 1)) {
                text.push_str(&self.lines("", &format!("(not answered: {why})"), WARNING));
            }
        }
        text
    }

    fn message(&self, stored: &Stored) -> String {
        let message = &stored.entry.message;
        match message.role {
            Role::User => {
                let sign = if self.look.unicode { "› " } else { "> " };
                self.lines(sign, &message.text(), HEADING) + &self.attached(&message.content)
            }
            Role::Assistant => self.answer(stored),
            Role::Tool => message.content.iter().map(|block| self.result(block)).collect(),
            Role::System => self.lines("", &format!("System: {}", message.text()), DIM),
            other => self.lines("", &format!("{other}: {}", message.text()), DIM),
        }
    }

    fn answer(&self, stored: &Stored) -> String {
        let message = &stored.entry.message;
        let mut text = self.thought(stored);
        text.push_str(&screen::sources::answer(&message.content, &message.sources, self.look));
        for call in message.content.iter().filter_map(Block::as_tool_call) {
            let arguments = call.arguments.text();
            let sign = if self.look.unicode { "● " } else { "* " };
            text.push_str(&self.lines(sign, &format!("{} {arguments}", call.name), Style::new()));
        }
        text.push_str(&self.attached(&message.content));
        match stored.entry.state {
            State::Complete => {}
            State::Partial => text.push_str(&self.lines("", "(not finished)", WARNING)),
            State::Cut => text.push_str(&self.lines("", "(cut off)", WARNING)),
        }
        let mut about = vec![match (&message.model, message.thinking) {
            (Some(model), Some(level)) => format!("{model}/{level}"),
            (Some(model), None) => model.clone(),
            (None, _) => "assistant".to_owned(),
        }];
        if let Some(usage) = &stored.entry.usage {
            about.push(notice::tokens(usage.output_tokens.saturating_add(usage.thinking_tokens)));
        }
        about.extend(stored.entry.cost.map(|cost| notice::about(cost, stored.entry.state == State::Cut)));
        text + &self.lines("", &about.join(" · "), DIM)
    }

    fn thought(&self, stored: &Stored) -> String {
        let texts = stored.entry.message.content.iter().filter_map(|block| match block {
            Block::Thinking(thinking) => Some(thinking.text.as_str()),
            _ => None,
        });
        let text = texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
        let tokens = stored.entry.usage.as_ref().map(|usage| usage.thinking_tokens);
        let thought = thinking::Thought { text: &text, elapsed: None, tokens, estimated: false };
        match self.thinking {
            true => thinking::expanded(&thought, self.look) + if text.is_empty() { "" } else { "\n" },
            false => thinking::collapsed(&thought, self.look),
        }
    }

    fn result(&self, block: &Block) -> String {
        let Block::ToolResult(result) = block else { return String::new() };
        let said: Vec<&str> = result.content.iter().filter_map(Block::as_text).collect();
        let failed = if result.is_error { self.lines("  ", "failed:", WARNING) } else { String::new() };
        failed + &notice::folded(&said.join("\n"), TOOL_LINES, self.look) + &self.attached(&result.content)
    }

    /// Names the pictures, documents and audio that accompany a text.
    fn attached(&self, content: &[Block]) -> String {
        let kinds = content.iter().filter_map(|block| match block {
            Block::Image(_) | Block::Audio(_) => Some(format!("[{}]", block.kind())),
            Block::Document(document) => match &document.name {
                Some(name) => Some(format!("[document: {name}]")),
                None => Some("[document]".to_owned()),
            },
            _ => None,
        });
        let kinds: Vec<String> = kinds.collect();
        if kinds.is_empty() { String::new() } else { self.lines("  ", &kinds.join(" "), DIM) }
    }

    /// Draws styled lines of text, aligned after the start of the first.
    fn lines(&self, start: &str, text: &str, style: Style) -> String {
        let indent = start.chars().count();
        let rows = screen::wrap(text, self.look.with_width(self.look.width.saturating_sub(indent)));
        let mut shown = String::new();
        for (place, row) in rows.iter().enumerate() {
            let before = if place == 0 { start.to_owned() } else { " ".repeat(indent) };
            let row = self.look.paint(style, row);
            shown.push_str(format!("{before}{row}").trim_end());
            shown.push('\n');
        }
        shown
    }
}
