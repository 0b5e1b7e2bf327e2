//! The tools that a prompt asks for. To name one is not to ask for it: "What does get_weather do?" calls nothing.

use ikigai_core::Function;

/// A part of a prompt, and the tools that it asks for at once.
#[derive(Debug)]
pub(super) struct Step<'a> {
    /// The words.
    pub(super) text: &'a str,
    /// The tools, in the order of the words.
    pub(super) tools: Vec<&'a Function>,
}

/// Words that ask for what follows.
const ASKING: &[&str] = &[
    "ask", "call", "calling", "calls", "check", "consult", "execute", "invoke", "look", "need", "query", "run",
    "start", "through", "try", "use", "using", "via", "with",
];
/// Words that ask for the opposite.
pub(super) const REFUSING: &[&str] =
    &["avoid", "cannot", "don't", "dont", "don’t", "except", "instead", "never", "no", "not", "unless", "without"];
/// Words that talk about a tool.
pub(super) const DISCUSSING: &[&str] = &[
    "bug",
    "compare",
    "define",
    "describe",
    "difference",
    "document",
    "error",
    "explain",
    "issue",
    "problem",
    "why",
    "wrong",
];
/// Words that mean nothing here: what follows them is still at the beginning of the sentence.
const FILLING: &[&str] = &[
    "a", "again", "also", "an", "and", "both", "can", "could", "first", "function", "go", "i", "just", "lets", "let's",
    "me", "must", "my", "now", "ok", "please", "should", "so", "the", "this", "to", "tool", "want", "would", "you",
    "your",
];
/// Words between two steps. "next" is one at the beginning of a clause.
const NEXT: &[&str] = &["afterwards", "finally", "lastly", "then"];

/// The steps of a prompt that ask for a tool. "then", "after that" and the like begin a new one; a step that asks for
/// no tool does not count.
pub(super) fn steps<'a>(prompt: &'a str, functions: &[&'a Function]) -> Vec<Step<'a>> {
    let mut reader = Reader { steps: Vec::new(), from: 0, tools: Vec::new(), clause: Clause::default() };
    let words: Vec<Word<'a>> = words(prompt).collect();
    for (place, word) in words.iter().enumerate() {
        let following = words.get(place + 1).map(|word| word.lower.as_str()).unwrap_or_default();
        let begins_a_step = match word.lower.as_str() {
            "after" => ["that", "this"].contains(&following),
            "next" => reader.clause.is_new(),
            other => NEXT.contains(&other),
        };
        if begins_a_step {
            reader.end_step(prompt, word.start);
            continue;
        }
        match functions.iter().find(|function| function.name == word.name) {
            Some(function) => {
                if reader.clause.asks_here() && !reader.tools.iter().any(|known| known.name == function.name) {
                    reader.tools.push(function);
                }
            }
            None => reader.clause.note(&word.lower, following),
        }
        match word.end {
            End::Sentence => reader.clause = Clause::default(),
            End::Clause => reader.clause = Clause { is_first: false, asked: reader.clause.asked, ..Clause::default() },
            End::Within => {}
        }
    }
    reader.end_step(prompt, prompt.len());
    reader.steps
}

struct Reader<'a> {
    steps: Vec<Step<'a>>,
    from: usize,
    tools: Vec<&'a Function>,
    clause: Clause,
}

impl<'a> Reader<'a> {
    fn end_step(&mut self, prompt: &'a str, to: usize) {
        let tools = std::mem::take(&mut self.tools);
        if !tools.is_empty() {
            self.steps.push(Step { text: prompt.get(self.from..to).unwrap_or_default(), tools });
        }
        self.from = to;
        self.clause = Clause::default();
    }
}

/// What was said in a clause before a tool is named.
#[derive(Debug)]
struct Clause {
    /// Whether it is the first one of its sentence.
    is_first: bool,
    /// Whether the last tool named in this sentence was asked for.
    asked: bool,
    asks: bool,
    refuses: bool,
    discusses: bool,
    /// Whether there are any other words.
    has_words: bool,
}

impl Default for Clause {
    fn default() -> Self {
        Clause { is_first: true, asked: false, asks: false, refuses: false, discusses: false, has_words: false }
    }
}

impl Clause {
    fn note(&mut self, word: &str, following: &str) {
        if ASKING.contains(&word) {
            self.asks = true;
        } else if REFUSING.contains(&word) {
            self.refuses = true;
        } else if DISCUSSING.contains(&word)
            || (word == "how" && ["can", "do", "does", "should", "to"].contains(&following))
        {
            self.discusses = true;
        } else if !FILLING.contains(&word) && !word.is_empty() {
            self.has_words = true;
        }
    }

    /// Whether nothing has been said in it yet.
    fn is_new(&self) -> bool {
        !self.asks && !self.refuses && !self.discusses && !self.has_words
    }

    /// Whether a tool that is named here is asked for. An order may be nothing but its name; a tool listed after one
    /// that was asked for is asked for, too.
    fn asks_here(&mut self) -> bool {
        let alone = !self.has_words && (self.is_first || self.asked);
        self.asked = !self.refuses && !self.discusses && (self.asks || alone);
        // "Call f, but not g" says nothing about what comes after g.
        self.refuses = false;
        self.asked
    }
}

/// A word of a prompt.
struct Word<'a> {
    start: usize,
    /// Without the punctuation around it, as a tool would be called.
    name: &'a str,
    lower: String,
    end: End,
}

/// What ends after a word.
enum End {
    Sentence,
    Clause,
    Within,
}

fn words(prompt: &str) -> impl Iterator<Item = Word<'_>> {
    let mut from = 0;
    prompt.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let start = from;
        from += piece.len();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let inner = piece.trim_start_matches(|c: char| !is_part(c));
        let is_name = |c: char| is_part(c) || ['-', '.', ':'].contains(&c);
        let length = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
        let name = inner.get(..length).unwrap_or_default().trim_end_matches(['-', '.', ':']);
        let lower = inner.trim_end_matches(|c: char| !is_part(c)).to_lowercase();
        let said = piece.trim_end();
        let end = if said.ends_with(['.', '!', '?', ';']) || piece.ends_with('\n') {
            End::Sentence
        } else if said.ends_with(',') {
            End::Clause
        } else {
            End::Within
        };
        (!piece.trim().is_empty() || piece.ends_with('\n')).then_some(Word { start, name, lower, end })
    })
}

#[cfg(test)]
mod tests {
    use ikigai_core::Tool;

    use super::*;

    fn asked(prompt: &str) -> Vec<Vec<String>> {
        let names = ["get_weather", "get_time", "book-table", "read", "Bash", "read_file"];
        let tools: Vec<Tool> = names.into_iter().map(|name| Tool::new(name, "")).collect();
        let functions: Vec<&Function> = tools.iter().filter_map(Tool::as_function).collect();
        let steps = steps(prompt, &functions);
        steps.into_iter().map(|step| step.tools.into_iter().map(|tool| tool.name.clone()).collect()).collect()
    }

    #[test]
    fn tools_are_called_when_they_are_asked_for() {
        for (prompt, steps) in [
            ("Call get_weather for Oslo.", &[&["get_weather"][..]][..]),
            ("get_weather city=Oslo", &[&["get_weather"]]),
            ("Please get_weather(city=\"Oslo\")", &[&["get_weather"]]),
            ("What's the weather in Oslo? Use the tool `get_weather`.", &[&["get_weather"]]),
            ("Look up the weather in Oslo with get_weather.", &[&["get_weather"]]),
            ("Use get_weather and get_time for Oslo", &[&["get_weather", "get_time"]]),
            ("Use get_weather, get_time and book-table.", &[&["get_weather", "get_time", "book-table"]]),
            ("Call get_weather then get_time", &[&["get_weather"], &["get_time"]]),
            ("Think it over, then call the tool get_weather for Oslo", &[&["get_weather"]]),
            (
                "First look at the sky. After that, check get_time, and finally use book-table for 2.",
                &[&["get_time"], &["book-table"]],
            ),
            ("read notes.txt and tell me what it says", &[&["read"]]),
            ("Could you run Bash with `ls`?", &[&["Bash"]]),
            ("Don't call get_time, use get_weather", &[&["get_weather"]]),
            ("Call get_weather but not get_time", &[&["get_weather"]]),
            ("Use get_weather for the next city, next get_time", &[&["get_weather"], &["get_time"]]),
        ] {
            assert_eq!(asked(prompt), steps, "{prompt}");
        }
    }

    #[test]
    fn tools_are_not_called_when_they_are_only_named() {
        for prompt in [
            "What does get_weather do?",
            "Explain how to use get_weather.",
            "How do I call get_weather?",
            "The tools are: get_weather, get_time, Bash.",
            "There is something wrong with get_weather",
            "Answer without get_weather.",
            "Never call get_weather!",
            "I have read your answer.",
            "Add up the numbers in numbers.txt, write the sum to sum.txt, and tell me the sum.",
            "get_weathers read_files",
            "",
        ] {
            assert_eq!(asked(prompt), Vec::<Vec<String>>::new(), "{prompt}");
        }
    }
}
