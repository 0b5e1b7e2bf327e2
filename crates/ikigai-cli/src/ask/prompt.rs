//! The question: words on the command line, piped input, files.

use std::io::{IsTerminal as _, Read as _};

use ikigai::{Attach as _, Block, BlockKind, Facts, Message, Modality, Registry, Role, Source};

use crate::exit::Failure;
use crate::settings::Settings;

/// More than any provider accepts.
const LARGEST: u64 = 100 << 20;
/// The word for standard input.
pub(super) const STDIN: &str = "-";

/// Reads piped input; `None` on a terminal or if it is empty.
pub(super) fn piped() -> Result<Option<Vec<u8>>, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::new(format!("standard input is longer than {LARGEST} bytes")));
    }
    Ok((!bytes.is_empty()).then_some(bytes))
}

/// Fills a template with the words. If it needs an input and there are no words left for it, standard input is used.
pub(super) fn filled(
    settings: &Settings,
    name: &str,
    words: &[String],
    piped: &mut Option<Vec<u8>>,
) -> Result<String, Failure> {
    let template = settings.template(name)?;
    let mut words: Vec<String> = words.iter().filter(|word| *word != STDIN).cloned().collect();
    let lacks_input = template.lacks_input(&words);
    if let Some(text) = piped.as_ref().filter(|_| lacks_input).and_then(|bytes| String::from_utf8(bytes.clone()).ok()) {
        words.push(text.trim_end().to_owned());
        *piped = None;
    }
    template.fill(name, &words)
}

/// Composes the message: the words, then the piped input, then the files.
pub(super) async fn compose(words: &[String], piped: Option<Vec<u8>>, files: &[String]) -> Result<Message, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != STDIN).collect();
    let words = words.join(" ");
    let mut message = Message::new(Role::User, Vec::<Block>::new());
    let mut piped = piped;
    for file in files {
        if file == STDIN {
            let bytes =
                piped.take().ok_or_else(|| Failure::usage("-a - attaches standard input, but nothing is piped in"))?;
            message.content.push(Block::file(&bytes, "stdin"));
        } else {
            message = match file.starts_with("https://") || file.starts_with("http://") {
                true => message.attach_url(file),
                false => message.attach_file(file).await?,
            };
        }
    }
    let text = match piped.map(String::from_utf8) {
        None => words,
        Some(Ok(text)) if words.trim().is_empty() => text,
        Some(Ok(text)) => format!("{words}\n\n{}", fenced(&text)),
        Some(Err(bytes)) => {
            message.content.push(Block::file(bytes.as_bytes(), "stdin"));
            words
        }
    };
    if text.trim().is_empty() && message.content.is_empty() {
        return Err(Failure::usage("there is nothing to ask")
            .hint("ikigai ask \"Why is the sky blue?\", or pipe something in: git diff | ikigai ask \"review this\""));
    }
    if !text.trim().is_empty() {
        message.content.insert(0, Block::text(text));
    }
    Ok(message)
}

/// Puts a text between fences that do not occur in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}stdin\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Refuses what the model cannot read, before anything is sent, and names models that can.
pub(super) fn readable(message: &Message, facts: Option<&Facts>, registry: &Registry) -> Result<(), Failure> {
    let Some(facts) = facts.filter(|facts| !facts.input.is_empty()) else { return Ok(()) };
    for block in &message.content {
        let Some((modality, what)) = needed(block) else { continue };
        if facts.input.contains(&modality) {
            continue;
        }
        let same = registry.catalog.models().filter(|other| other.input.contains(&modality));
        let mut others: Vec<String> = same
            .filter(|other| registry.parse(&other.id).is_ok_and(|name| name.provider == other.provider))
            .map(|other| other.id.to_string())
            .collect();
        others.sort_by_key(|name| (!name.starts_with("claude") && !name.starts_with("gpt"), name.len()));
        others.truncate(3);
        return Err(Failure::usage(format!("{} cannot read {what}", facts.id))
            .hint(format!("Models that do: {}", others.join(", "))));
    }
    Ok(())
}

/// Returns what a model must be able to read for a block, and its name for people.
fn needed(block: &Block) -> Option<(Modality, &'static str)> {
    match block.kind() {
        BlockKind::Image => Some((Modality::Image, "pictures")),
        BlockKind::Audio => Some((Modality::Audio, "sounds")),
        BlockKind::Document => match block {
            Block::Document(document) if is_pdf(&document.source) => Some((Modality::Pdf, "PDF documents")),
            _ => None,
        },
        _ => None,
    }
}

fn is_pdf(source: &Source) -> bool {
    source.media_type() == Some("application/pdf")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    async fn texts(words: &[&str], piped: Option<&str>) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let message = compose(&words, piped.map(|text| text.as_bytes().to_vec()), &[]).await;
        message
            .map(|message| message.content.iter().filter_map(Block::as_text).map(str::to_owned).collect())
            .map_err(|failure| failure.what)
    }

    #[tokio::test]
    async fn words_and_what_is_piped_in_are_one_message() {
        assert_eq!(texts(&["why", "is it"], None).await, Ok(vec!["why is it".to_owned()]));
        assert_eq!(texts(&[], Some("hi\n")).await, Ok(vec!["hi\n".to_owned()]));
        assert_eq!(texts(&["-"], Some("hi")).await, Ok(vec!["hi".to_owned()]));
        assert_eq!(texts(&["review"], Some("a\nb\n")).await, Ok(vec!["review\n\n```stdin\na\nb\n```".to_owned()]));
        assert_eq!(texts(&["x"], Some("a ```` b")).await, Ok(vec!["x\n\n`````stdin\na ```` b\n`````".to_owned()]));
        assert_eq!(texts(&[], None).await, Err("there is nothing to ask".to_owned()));
        assert_eq!(texts(&[" "], None).await, Err("there is nothing to ask".to_owned()));
    }

    #[tokio::test]
    async fn what_is_no_text_is_attached() {
        let png = b"\x89PNG\r\n\x1a\n\xff\xff".to_vec();
        let message = compose(&["what is it".to_owned()], Some(png.clone()), &[]).await.unwrap();
        let kinds: Vec<BlockKind> = message.content.iter().map(Block::kind).collect();
        assert_eq!(kinds, [BlockKind::Text, BlockKind::Image]);
        let message = compose(&[], Some(png), &["-".to_owned()]).await.unwrap();
        assert_eq!(message.content.len(), 1);
    }

    #[tokio::test]
    async fn a_model_that_cannot_read_it_is_refused_with_others_that_can() {
        let registry = Registry::default();
        let message = compose(&["look".to_owned()], Some(b"\x89PNG\r\n\x1a\n\xff".to_vec()), &[]).await.unwrap();
        let name = registry.parse("o3-mini").unwrap();
        let facts = registry.route(&name).unwrap().facts;
        let failure = readable(&message, facts, &registry).unwrap_err();
        assert_eq!(failure.what, "o3-mini cannot read pictures");
        assert!(failure.hint.is_some_and(|hint| hint.contains("gpt-4o")));
        let name = registry.parse("claude-sonnet-4-5").unwrap();
        readable(&message, registry.route(&name).unwrap().facts, &registry).unwrap();
    }
}
