//! `ikigai history list`.

use clap::Args;
use ikigai_store::{Conversation, Cursor, Listing, ModelChoice, Page, Store};
use serde_json::{Map, Value, json};

use super::when;
use crate::conversations;
use crate::exit::Failure;
use crate::output::Out;
use crate::screen::{self, Look, notice};
use crate::table::{Side, Table};

/// How many are listed by default.
const USUAL: u32 = 20;
/// The minimum and maximum width of the title column.
const TITLE: (usize, usize) = (16, 60);

/// List the conversations, newest first
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai history list
  ikigai history list -n 100
  ikigai history list --json | jq -r '.conversations[] | .id + \"  \" + .title'

A ↳ before a title is a fork: it shares its beginning with another conversation. When there are more conversations, the
last line says how to see them; in JSON, pass `next` to --after.")]
pub(crate) struct List {
    /// At most this many
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = USUAL)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Continue after this place, as printed with the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(list: List, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    let listing = Listing::newest(list.limit);
    let page = store.list(list.after.into_iter().fold(listing, Listing::after)).await?;
    if list.json {
        let conversations: Vec<Map<String, Value>> = page.conversations.iter().map(about).collect();
        let next = page.next.map(|cursor| cursor.to_string());
        return out.json(&json!({"conversations": conversations, "next": next}));
    }
    if page.conversations.is_empty() {
        let more = if list.after.is_some() { "There are no more conversations.\n" } else { NONE };
        out.note(more);
        return Ok(());
    }
    out.text(&table(&page, out.width()).print(out.width()))?;
    if let Some(next) = page.next {
        out.flush()?;
        let limit = if list.limit == USUAL { String::new() } else { format!(" -n {}", list.limit) };
        out.note(&format!("There are more: ikigai history list{limit} --after {next}\n"));
    }
    Ok(())
}

const NONE: &str = "There are no conversations yet. Start one with `ikigai` or `ikigai ask`.\n";

fn table(page: &Page, width: Option<usize>) -> Table {
    let rows: Vec<[String; 4]> = page
        .conversations
        .iter()
        .map(|conversation| {
            let messages = notice::count(conversation.messages);
            let when = when::ago(conversation.updated);
            [conversations::short(conversation.id), when, messages, name(&conversation.model)]
        })
        .collect();
    let (least, most) = TITLE;
    // The title column shrinks so that the others fit.
    let widest = |text: fn(&[String; 4]) -> &String| rows.iter().map(|row| screen::width(text(row))).max().unwrap_or(0);
    let others =
        widest(|[id, ..]| id) + widest(|[_, when, ..]| when) + widest(|[.., model]| model) + "MESSAGES".len() + 8;
    let look = Look::new(width.unwrap_or(most), false, |name| std::env::var(name).ok());
    let room = width.map_or(most, |width| width.saturating_sub(others).clamp(least, most));
    let mut table = Table::new([
        ("ID", Side::Left),
        ("TITLE", Side::Left),
        ("WHEN", Side::Left),
        ("MODEL", Side::Left),
        ("MESSAGES", Side::Right),
    ]);
    for (conversation, [id, when, messages, model]) in page.conversations.iter().zip(rows) {
        let fork = if conversation.parent.is_some() { "↳ " } else { "" };
        let title = format!("{fork}{}", conversation.title.as_deref().unwrap_or("untitled"));
        table.row([id, screen::shorten(&title, room, look), when, screen::clean(&model).into_owned(), messages]);
    }
    table
}

/// Formats a model with its level: `claude-sonnet-4-5/med`.
pub(super) fn name(choice: &ModelChoice) -> String {
    let model = choice.model.as_deref().unwrap_or("-");
    match choice.thinking.as_ref().and_then(|thinking| thinking.level) {
        Some(level) => format!("{model}/{level}"),
        None => model.to_owned(),
    }
}

/// Returns what is known about a conversation, without its messages.
pub(super) fn about(conversation: &Conversation) -> Map<String, Value> {
    let facts = [
        ("id", json!(conversation.id.to_string())),
        ("title", json!(conversation.title)),
        ("created", json!(conversation.created)),
        ("updated", json!(conversation.updated)),
        ("model", json!(conversation.model)),
        ("parent", json!(conversation.parent)),
        ("message_count", json!(conversation.messages)),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
