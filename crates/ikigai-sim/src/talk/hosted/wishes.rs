//! What a prompt asks of the provider's tools, as people phrase it.

use ikigai_core::{Function, ProviderTool, Request, Tool, ToolChoice};

use super::Wish;
use crate::talk::{asked, choice};

/// Words that ask for a search of what follows, the longer ones first.
const SEARCHING: &[&str] = &[
    "search through the files for",
    "search the documents for",
    "search the internet for",
    "search my documents for",
    "search the files for",
    "search my files for",
    "search online for",
    "search the web for",
    "find information about",
    "find information on",
    "do a web search for",
    "do a web search on",
    "find news about",
    "do a search for",
    "run a search for",
    "web search for",
    "find out about",
    "web search:",
    "search for",
    "google for",
    "look up",
    "search:",
    "search",
    "google",
];
/// Words that ask for code to be run.
const RUNNING: &[&str] = &["run ", "execute ", "use python", "using python", "with python", "in python", "with code"];
/// What ends the search terms.
const ENDS: &[&str] =
    &[" with a pause", " and pause", ", pausing", " pausing", " with pauses", " in the files", " in my files"];
/// The most wishes of a prompt that are followed.
const MOST: usize = 10;
/// Words between two wishes.
const STEPS: &[&str] = &[" and then ", ", then ", ". then ", " then ", "; ", ", and search ", " and search "];

/// What the prompt asks for, in order.
pub(super) fn of(prompt: &str, offered: &[ProviderTool], request: &Request) -> Vec<Wish> {
    let functions: Vec<&Function> = request.tools.iter().filter_map(Tool::as_function).collect();
    // A step that asks for one of the caller's functions asks for no search.
    let is_for_a_function = |step: &str| !asked::steps(step, &functions).is_empty();
    let steps = steps(prompt).into_iter().filter(|step| !is_for_a_function(step));
    let wishes: Vec<Wish> = steps.filter_map(|step| wish(step, offered)).take(MOST).collect();
    if !wishes.is_empty() {
        return wishes;
    }
    let forced = match choice(request) {
        ToolChoice::Required if functions.is_empty() => offered.first().copied(),
        ToolChoice::Specific(name) => offered.iter().copied().find(|tool| tool.as_str() == name),
        _ => None,
    };
    forced.map(|tool| Wish::new(tool, plain(prompt))).into_iter().collect()
}

/// How often the provider should pause before it has done what the prompt asks for.
pub(super) fn pauses(prompt: &str) -> usize {
    let lower = prompt.to_lowercase();
    let Some((_, behind)) = lower.split_once("paus") else { return 0 };
    let number = behind.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    number.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

/// The steps of a prompt, without the words between them.
fn steps(prompt: &str) -> Vec<&str> {
    let lower = lowered(prompt);
    let mut cuts: Vec<(usize, &str)> =
        STEPS.iter().flat_map(|word| lower.match_indices(word).map(|(at, _)| (at, *word))).collect();
    cuts.sort_by_key(|(at, word)| (*at, !word.len()));
    let (mut steps, mut from) = (Vec::new(), 0);
    for (at, word) in cuts {
        if at < from {
            continue;
        }
        steps.extend(prompt.get(from..at));
        // A verb among these words belongs to the next wish.
        let kept = if word.trim_end().ends_with("search") { "search ".len() } else { 0 };
        from = at + word.len() - kept;
    }
    steps.extend(prompt.get(from..));
    steps
}

/// In lower case, with every byte in the same place.
fn lowered(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn wish(step: &str, offered: &[ProviderTool]) -> Option<Wish> {
    let lower = lowered(step);
    let has = |tool: ProviderTool| offered.contains(&tool);
    if has(ProviderTool::WebFetch)
        && let Some((at, url)) = address(step)
        && !is_not_meant(&lower, at)
    {
        return Some(Wish::new(ProviderTool::WebFetch, url));
    }
    if has(ProviderTool::CodeExecution)
        && let Some((at, verb)) = first(&lower, RUNNING)
        && !is_not_meant(&lower, at)
    {
        let behind = step.get(at + verb.len()..).unwrap_or_default();
        return Some(Wish::new(ProviderTool::CodeExecution, &code(step, behind)));
    }
    let (at, verb) = first(&lower, SEARCHING)?;
    let behind = step.get(at + verb.len()..)?;
    let about_files = ["file", "document"].iter().any(|word| lower.contains(word));
    let tool = match (has(ProviderTool::WebSearch), has(ProviderTool::FileSearch)) {
        (true, true) if about_files => ProviderTool::FileSearch,
        (true, _) => ProviderTool::WebSearch,
        (false, true) => ProviderTool::FileSearch,
        (false, false) => return None,
    };
    let input = plain(behind);
    (!input.is_empty() && !is_not_meant(&lower, at)).then(|| Wish::new(tool, input))
}

/// The first of these terms that occurs as whole words, and where.
fn first<'w>(lower: &str, words: &[&'w str]) -> Option<(usize, &'w str)> {
    let alone = |at: usize, word: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let before = lower.get(..at).and_then(|before| before.chars().next_back());
        let behind = lower.get(at + word.len()..).and_then(|behind| behind.chars().next());
        let ends = word.ends_with([' ', ':']) || !behind.is_some_and(is_part);
        ends && !before.is_some_and(is_part)
    };
    let found =
        |word: &'w str| lower.match_indices(word).map(|(at, _)| at).find(|at| alone(*at, word)).map(|at| (at, word));
    words.iter().filter_map(|word| found(word)).min_by_key(|(at, word)| (*at, !word.len()))
}

/// Whether the words before this place ask for the opposite, or only talk about it.
fn is_not_meant(lower: &str, at: usize) -> bool {
    let before = lower.get(..at).unwrap_or_default();
    let clause = before.rsplit(['.', '!', '?', ';', '\n', ',']).next().unwrap_or_default();
    let mut words =
        clause.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\''));
    words.any(|word| word == "how" || asked::REFUSING.contains(&word) || asked::DISCUSSING.contains(&word))
}

/// The search terms, without what is around them.
fn plain(text: &str) -> &str {
    let lower = lowered(text);
    let end = ENDS.iter().filter_map(|end| lower.find(end)).min().unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text).trim();
    let text = text.split('\n').next().unwrap_or(text);
    text.trim_matches(|c: char| c.is_whitespace() || "\"'“”`.,;:!?".contains(c))
}

/// The first URL in a text, and where it is.
fn address(text: &str) -> Option<(usize, &str)> {
    let at = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min()?;
    let url = text.get(at..)?.split(|c: char| c.is_whitespace() || "<>\"'`”)".contains(c)).next()?;
    Some((at, url.trim_end_matches(['.', ',', ';', ':', '!', '?'])))
}

/// The code in a step: what is between backticks, or else a program that prints what is asked for.
fn code(step: &str, behind: &str) -> String {
    if let Some(quoted) = step.split('`').nth(1).filter(|quoted| !quoted.trim().is_empty()) {
        return quoted.to_owned();
    }
    if let Some((sum, _)) = crate::talk::arithmetic::solve(step) {
        return format!("print({sum})");
    }
    let asked = plain(behind.trim_start_matches(':'));
    if asked.contains('(') { asked.to_owned() } else { format!("print({})", serde_json::Value::from(asked)) }
}

#[cfg(test)]
mod tests {
    use ikigai_core::Request;
    use pretty_assertions::assert_eq;

    use super::*;

    fn asked(prompt: &str) -> Vec<(ProviderTool, String)> {
        use ProviderTool::{CodeExecution, FileSearch, WebFetch, WebSearch};
        let request = Request::new("m").tool(Tool::new("get_weather", ""));
        let wishes = of(prompt, &[WebSearch, WebFetch, CodeExecution, FileSearch], &request);
        wishes.into_iter().map(|wish| (wish.tool, wish.input)).collect()
    }

    #[test]
    fn prompts_are_understood_as_people_phrase_them() {
        use ProviderTool::{CodeExecution, FileSearch, WebFetch, WebSearch};
        for (prompt, wishes) in [
            ("search for the population of Oslo", &[(WebSearch, "the population of Oslo")][..]),
            ("Please search the web for “fjords”!", &[(WebSearch, "fjords")]),
            ("Can you look up Edvard Grieg?", &[(WebSearch, "Edvard Grieg")]),
            ("Google Munch's paintings.", &[(WebSearch, "Munch's paintings")]),
            ("Search for a, then search for b", &[(WebSearch, "a"), (WebSearch, "b")]),
            ("Search for a and search for b", &[(WebSearch, "a"), (WebSearch, "b")]),
            ("search for Oslo and pause 3 times", &[(WebSearch, "Oslo")]),
            ("Fetch https://example.org/a?b=c. What does it say?", &[(WebFetch, "https://example.org/a?b=c")]),
            ("Run `print(6*7)`", &[(CodeExecution, "print(6*7)")]),
            ("What is 12 * 7? Use Python.", &[(CodeExecution, "print(12 * 7)")]),
            ("run hello world", &[(CodeExecution, "print(\"hello world\")")]),
            ("Search the files for the budget", &[(FileSearch, "the budget")]),
            ("Look up the weather in Oslo with get_weather.", &[]),
            ("Do not search for Oslo", &[]),
            ("How do I search for Oslo?", &[]),
            ("Explain how to search for files", &[]),
            ("I research fjords", &[]),
            ("search", &[]),
            ("Hello", &[]),
        ] {
            let wishes: Vec<_> = wishes.iter().map(|(tool, input)| (*tool, (*input).to_owned())).collect();
            assert_eq!(asked(prompt), wishes, "{prompt}");
        }
        assert_eq!(["search for x", "search for x, pausing", "search and pause 11 times"].map(pauses), [0, 1, 11]);
    }

    #[test]
    fn a_long_wish_is_cut() {
        let lengths = asked(&format!("search for {}", "é".repeat(1_000_000)));
        assert_eq!(lengths.iter().map(|(_, input)| input.chars().count()).collect::<Vec<_>>(), [2_000]);
    }

    #[test]
    fn a_long_prompt_of_many_steps_is_read_in_one_go() {
        let prompt = "search for a then ".repeat(20_000);
        assert_eq!(steps(&prompt).len(), 20_001);
    }
}
