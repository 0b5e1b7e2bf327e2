//! `ikigai history search`.

use clap::Args;
use ikigai_store::{Hit, Place, Snippet, Store};
use serde_json::{Value, json};

use super::when;
use crate::conversations;
use crate::exit::Failure;
use crate::output::{DIM, HEADING, NAME, Out};
use crate::screen;

/// Find words in all conversations
///
/// Titles, questions, answers and what tools said are searched. All words must be there; capitals and accents do not
/// matter.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai history search rayleigh
  ikigai history search '\"blue sky\"'
      A phrase: the inner quotes are part of the search.
  ikigai history search -- 'sea*' -ship
      Words that start with sea, without ship. -- keeps -ship from being read as an option.
  ikigai history search --newest --json rust | jq -r '.[0].conversation'

The best hits come first: titles, then what was asked, then what was answered, then what tools said.")]
pub(crate) struct Search {
    /// What to search for
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// At most this many hits
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Show the newest hits first
    #[arg(long)]
    newest: bool,
    /// Print a JSON list; `marks` are the positions of the words in the text, in characters
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(search: &Search, store: &dyn Store, out: &mut Out) -> Result<(), Failure> {
    let wanted = ikigai_store::Search::new(search.words.join(" ")).limit(search.limit);
    let wanted = if search.newest { wanted.newest_first() } else { wanted };
    let hits = store.search(wanted).await?;
    if search.json {
        return out.json(&hits.iter().map(record).collect::<Vec<_>>());
    }
    if hits.is_empty() {
        out.note("No matches.\n");
        return Ok(());
    }
    out.text(&hits.iter().map(shown).collect::<String>())
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Title => "title",
        Place::Prompt => "prompt",
        Place::Answer => "answer",
        Place::Tool => "tool",
    }
}

fn shown(hit: &Hit) -> String {
    let id = conversations::short(hit.conversation);
    let title = screen::clean(hit.title.as_deref().unwrap_or("untitled")).into_owned();
    let about = format!("{} · {}", place(hit.place), when::ago(hit.created));
    format!("{NAME}{id}{NAME:#}  {title}  {DIM}{about}{DIM:#}\n          {}\n", marked(&hit.snippet))
}

/// Returns the excerpt, with the search terms in bold type.
fn marked(snippet: &Snippet) -> String {
    let mut text = String::new();
    let mut at = 0;
    let piece = |from: usize, to: usize| screen::clean(snippet.text.get(from..to).unwrap_or_default()).into_owned();
    for mark in &snippet.marks {
        text.push_str(&piece(at, mark.start));
        text.push_str(&format!("{HEADING}{}{HEADING:#}", piece(mark.start, mark.end)));
        at = mark.end;
    }
    text.push_str(&piece(at, snippet.text.len()));
    text
}

fn record(hit: &Hit) -> Value {
    // Byte offsets would be of no use to most readers of JSON.
    let characters = |byte: usize| snippet_start(&hit.snippet.text, byte);
    let marks: Vec<[usize; 2]> =
        hit.snippet.marks.iter().map(|mark| [characters(mark.start), characters(mark.end)]).collect();
    json!({
        "conversation": hit.conversation.to_string(),
        "title": hit.title,
        "message": hit.message.map(|id| id.to_string()),
        "place": place(hit.place),
        "created": hit.created,
        "text": hit.snippet.text,
        "marks": marks,
    })
}

/// Returns how many characters precede a byte.
fn snippet_start(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or_default().chars().count()
}
