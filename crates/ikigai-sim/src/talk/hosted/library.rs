//! What the tools find: always the same for the same words.

use ikigai_core::ProviderTool;

use super::{Outcome, Page, Piece, Told, Wish};
use crate::talk::arithmetic;

/// The most characters of a question that go into URLs and titles.
const LONGEST: usize = 80;

/// Does what is asked, and reports it. Searches beyond `most` fail.
pub(super) fn tell(wishes: &[Wish], most: Option<u64>) -> Told {
    let mut told = Told::default();
    let (mut searches, mut pages) = (0, 0);
    for wish in wishes {
        let mut outcome = outcome(wish);
        if wish.tool == ProviderTool::WebSearch {
            searches += 1;
            if most.is_some_and(|most| searches > most) {
                outcome = Outcome::Failed("max_uses_exceeded".to_owned());
            }
        }
        if !told.pieces.is_empty() {
            told.pieces.push(plain(" "));
        }
        told.pieces.extend(said(wish, &outcome, pages));
        if let Outcome::Found(found) = &outcome {
            pages += found.len();
        }
        told.runs.push(wish.run(Some(outcome)));
    }
    told
}

/// What a tool returns for these words. Some words are for tests: `nothing` finds nothing, and `error CODE` fails.
pub(super) fn outcome(wish: &Wish) -> Outcome {
    let asked = wish.input.trim();
    match wish.tool {
        ProviderTool::WebFetch => match host(asked).ends_with(".invalid") {
            true => Outcome::Failed("url_not_accessible".to_owned()),
            false => Outcome::Found(vec![Page {
                url: asked.to_owned(),
                title: format!("The page at {}", host(asked)),
                text: format!("This is the text of {asked} – all of it."),
                date: None,
            }]),
        },
        ProviderTool::CodeExecution => ran(asked),
        _ if asked.eq_ignore_ascii_case("nothing") => Outcome::Found(Vec::new()),
        _ => match asked.strip_prefix("error ").map(str::trim) {
            Some(code) if is_code(code) => Outcome::Failed(code.to_owned()),
            _ if wish.tool == ProviderTool::FileSearch => Outcome::Found(files(asked)),
            _ => Outcome::Found(web(asked)),
        },
    }
}

fn is_code(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn web(asked: &str) -> Vec<Page> {
    let (slug, short) = (slug(asked), short(asked));
    let page = |url: String, title: String, text: String, date: Option<&str>| Page {
        url,
        title,
        text,
        date: date.map(str::to_owned),
    };
    vec![
        page(
            format!("https://encyclopedia.example/wiki/{slug}"),
            format!("{short} – Encyclopedia"),
            format!(
                "The article about {short} describes it in detail, gives the figures of the last years with a source for \
                 each of them, and ends with a list of other articles that are worth reading."
            ),
            Some("4 days ago"),
        ),
        page(
            format!("https://news.example/2026/{slug}?lang=en&page=1"),
            format!("“{short}”: what is known"),
            format!("News: {short}."),
            None,
        ),
        // Pages need not have a title.
        page(
            format!("https://blog.example/{slug}"),
            String::new(),
            format!("My thoughts on {short}."),
            Some("2026-01-31"),
        ),
    ]
}

fn files(asked: &str) -> Vec<Page> {
    let slug = slug(asked);
    vec![Page {
        url: format!("file-{slug}"),
        title: format!("{slug}.md"),
        text: format!("# {}\nAll about it.", short(asked)),
        date: None,
    }]
}

/// Runs what can be run here: sums are solved, quoted text is printed, and code that raises fails.
fn ran(code: &str) -> Outcome {
    if code.contains("raise ") || code.contains("exit 1") || code.contains("exit(1)") {
        let errors = "Traceback (most recent call last):\nException\n".to_owned();
        return Outcome::Ran { output: String::new(), errors };
    }
    let output = match (arithmetic::solve(code), code.split(['"', '\'']).nth(1)) {
        (Some((_, value)), _) => format!("{}\n", arithmetic::show(value)),
        (None, Some(text)) if code.contains("print") || code.contains("echo") => format!("{text}\n"),
        (None, _) => String::new(),
    };
    Outcome::Ran { output, errors: String::new() }
}

/// The text of the answer about one call, whose pages begin at index `first` among all.
fn said(wish: &Wish, outcome: &Outcome, first: usize) -> Vec<Piece> {
    let short = short(&wish.input);
    let cited = |text: String, cites: &[usize]| Piece { text, cites: cites.iter().map(|cite| first + cite).collect() };
    match (wish.tool, outcome) {
        (ProviderTool::WebFetch, Outcome::Failed(code)) => vec![plain(format!("I could not read {short}: {code}."))],
        (_, Outcome::Failed(code)) => {
            vec![plain(format!("The search failed ({code}), so I cannot say what is known about “{short}”."))]
        }
        (_, Outcome::Ran { errors, .. }) if !errors.is_empty() => vec![plain("The code failed.")],
        (_, Outcome::Ran { output, .. }) if output.is_empty() => vec![plain("The code printed nothing.")],
        (_, Outcome::Ran { output, .. }) => vec![plain(format!("The code printed: {}", output.trim_end()))],
        (_, Outcome::Found(pages)) if pages.is_empty() => {
            vec![plain(format!("The search found nothing about “{short}”."))]
        }
        (ProviderTool::WebFetch, Outcome::Found(pages)) => {
            let text = pages.first().map(|page| page.text.clone()).unwrap_or_default();
            vec![plain("The page says: "), cited(text, &[0])]
        }
        (ProviderTool::FileSearch, Outcome::Found(_)) => {
            vec![plain("In the files: "), cited(format!("“{short}” is described"), &[0]), plain(".")]
        }
        (_, Outcome::Found(_)) => vec![
            plain(format!("Here is what the web says about “{short}”. ")),
            cited(format!("The encyclopedia describes {short} in detail – with figures"), &[0]),
            plain(". "),
            cited("The news reported on it, too".to_owned(), &[1, 0]),
            plain("."),
        ],
    }
}

fn plain(text: impl Into<String>) -> Piece {
    Piece { text: text.into(), cites: Vec::new() }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn slug(text: &str) -> String {
    let words = text.to_lowercase();
    let words: Vec<&str> = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(LONGEST).collect()
}

/// The host of a URL.
pub(super) fn host(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    behind.split(['/', '?', '#', ':']).next().unwrap_or_default()
}
