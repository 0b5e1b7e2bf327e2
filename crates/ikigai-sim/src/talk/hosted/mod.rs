//! Tools that the provider runs: what a prompt asks of them, what they find, and the answer that reports it.
//!
//! An answer is first written as its provider writes it, and then read by the dialect: so it has everything that the
//! wire has, ids, sealed state and counts, however it is sent.

mod anthropic;
mod gemini;
mod library;
mod openai;
mod wishes;

use ikigai_core::wire::Ids;
use ikigai_core::{
    Block, BuiltIn, Dialect, FinishReason, Limits, Message, Part, ProviderTool, Request, Response, Tool, ToolChoice,
};
use serde_json::Value;

use super::{Talk, Turn, calls, choice, complete};

/// The most pauses that a prompt can ask for.
const MOST_PAUSES: usize = 50;

/// The longest input of a tool, in characters: an answer repeats it several times.
const LONGEST_INPUT: usize = 2_000;

/// A call of a tool, and its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) tool: ProviderTool,
    /// Its input: the query, the URL or the code.
    pub(crate) input: String,
    /// The id of the call, if it is in an earlier answer.
    pub(crate) earlier: Option<String>,
    /// `None` if it has not returned yet.
    pub(crate) outcome: Option<Outcome>,
}

/// What a tool returned.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// Pages or files, possibly none.
    Found(Vec<Page>),
    /// The code ran, and wrote this.
    Ran { output: String, errors: String },
    /// The provider's error code.
    Failed(String),
}

/// A page on the web, or a file.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// Its URL, or the id of the file.
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) date: Option<String>,
}

/// A piece of the text, and the pages that it cites, by their places among all that were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) cites: Vec<usize>,
}

/// An answer with what the provider's tools did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) runs: Vec<Run>,
    pub(crate) pieces: Vec<Piece>,
    /// Whether the provider stops here, in the middle of its turn.
    pub(crate) paused: bool,
}

impl Told {
    /// All pages that were found.
    fn pages(&self) -> Vec<&Page> {
        let found = self.runs.iter().filter_map(|run| match &run.outcome {
            Some(Outcome::Found(pages)) => Some(pages),
            _ => None,
        });
        found.flatten().collect()
    }

    /// How often a tool returned; calls that have not returned are not counted.
    fn count(&self, tool: ProviderTool) -> usize {
        self.runs.iter().filter(|run| run.tool == tool && run.outcome.is_some()).count()
    }

    fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }
}

/// The answer to a request for provider-run tools, or `None` if it asks for none. `called` are the caller's own tools,
/// which the answer calls as well.
pub(super) fn answer(request: &Request, turn: &Turn<'_>, called: Vec<Block>, talk: &Talk<'_>) -> Option<Response> {
    let offered = offered(request, talk.dialect);
    if offered.is_empty() || choice(request) == ToolChoice::None {
        return None;
    }
    let waiting = dangling(turn.since);
    let wishes = wishes::of(&turn.prompt, &offered, request);
    if talk.dialect == Dialect::Anthropic {
        if !called.is_empty() {
            return (waiting.is_empty() && !wishes.is_empty()).then(|| {
                let runs = wishes.into_iter().map(|wish| wish.run(None)).collect();
                let told = Told { runs, ..Told::default() };
                let mut response = read(&told, request, talk);
                response.content.extend(called);
                response.finish_reason = FinishReason::ToolUse;
                response.provider_data = Default::default();
                complete(response, request, talk)
            });
        }
        let pauses = wishes::pauses(&turn.prompt).min(MOST_PAUSES);
        let made = turn.since.iter().flat_map(|message| &message.content).filter(|block| is_call(block)).count();
        if pauses > made
            && turn.rounds == 0
            && let Some(wish) = wishes.first()
        {
            let back = waiting.iter().map(|(id, wish)| wish.run(Some(library::outcome(wish))).of_earlier(id));
            let runs = back.chain([wish.part(made + 1).run(None)]).collect();
            return Some(complete(read(&Told { runs, paused: true, ..Told::default() }, request, talk), request, talk));
        }
    }
    if !called.is_empty() || (wishes.is_empty() && waiting.is_empty()) {
        return None;
    }
    let mut told = match waiting.is_empty() {
        true => library::tell(&wishes, uses(request)),
        false => {
            let wishes: Vec<Wish> = waiting.iter().map(|(_, wish)| wish.clone()).collect();
            let mut told = library::tell(&wishes, None);
            for (run, (id, _)) in told.runs.iter_mut().zip(&waiting) {
                run.earlier = Some(id.clone());
            }
            told
        }
    };
    if let Some(results) = turn.results {
        let text = format!("{}. ", calls::told(request, results));
        told.pieces.insert(0, Piece { text, cites: Vec::new() });
    }
    Some(complete(read(&told, request, talk), request, talk))
}

/// The answer of a script. If the turn so far ends with a call, the script's first search is the result of that call.
pub(crate) fn scripted(mut told: Told, request: &Request, talk: &Talk<'_>) -> Response {
    let waiting = dangling(Turn::of(request).since);
    if let (Some(run), Some((id, _))) = (told.runs.first_mut(), waiting.first()) {
        run.earlier = Some(id.clone());
    }
    read(&told, request, talk)
}

/// What is asked of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) tool: ProviderTool,
    pub(super) input: String,
}

impl Wish {
    fn new(tool: ProviderTool, input: &str) -> Self {
        Wish { tool, input: input.chars().take(LONGEST_INPUT).collect() }
    }

    fn run(&self, outcome: Option<Outcome>) -> Run {
        Run { tool: self.tool, input: self.input.clone(), earlier: None, outcome }
    }

    /// One of several calls for the same thing.
    fn part(&self, number: usize) -> Wish {
        Wish { input: format!("{} (part {number})", self.input), ..self.clone() }
    }
}

impl Run {
    fn of_earlier(self, id: &str) -> Run {
        Run { earlier: Some(id.to_owned()), ..self }
    }
}

/// The answer as the dialect reads what its provider writes.
fn read(told: &Told, request: &Request, talk: &Talk<'_>) -> Response {
    let mut ids = Ids::seeded(talk.seed.rotate_left(31));
    let wire = match talk.dialect {
        Dialect::Anthropic => anthropic::write(told, request, talk, &mut ids),
        Dialect::OpenaiChat => openai::completion(told, request),
        Dialect::OpenaiResponses => openai::response(told, request, &mut ids),
        Dialect::Gemini => gemini::write(told, request, talk, &mut ids),
        // Other dialects are refused before they get here.
        _ => return Response::default(),
    };
    let body = serde_json::to_vec(&wire).unwrap_or_default();
    let mut response = talk.dialect.decode_response(&body, &mut ids, &Limits::client()).unwrap_or_default();
    // The answer's own are made when it is complete.
    (response.id, response.model) = (None, String::new());
    response
}

/// The provider-run tools that the request offers.
fn offered(request: &Request, dialect: Dialect) -> Vec<ProviderTool> {
    let mut offered: Vec<ProviderTool> = request
        .tools
        .iter()
        .filter_map(|tool| match tool {
            Tool::BuiltIn(built_in) => Some(built_in.tool()),
            // A search with its own options.
            Tool::Other(_) if dialect == Dialect::Gemini => {
                let json = serde_json::to_value(tool).unwrap_or_default();
                let names = [("googleSearch", ProviderTool::WebSearch), ("google_search", ProviderTool::WebSearch)];
                let data = json.get("data").cloned().unwrap_or_default();
                names.into_iter().find_map(|(name, tool)| data.get(name).is_some_and(Value::is_object).then_some(tool))
            }
            // Functions, and kinds newer than this code.
            _ => None,
        })
        .collect();
    match dialect {
        Dialect::OpenaiChat => {
            let extra = request.provider_data.part(dialect, Part::Extra);
            if extra.get("web_search_options").is_some_and(|options| !options.is_null()) {
                offered.push(ProviderTool::WebSearch);
            }
        }
        // Its search opens pages.
        Dialect::OpenaiResponses if offered.contains(&ProviderTool::WebSearch) => offered.push(ProviderTool::WebFetch),
        _ => {}
    }
    offered
}

/// How many searches the request allows, if it says so.
fn uses(request: &Request) -> Option<u64> {
    request.tools.iter().find_map(|tool| match tool {
        Tool::BuiltIn(BuiltIn::WebSearch(search)) => search.max_uses,
        _ => None,
    })
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::ProviderCall(_))
}

/// The calls of the turn so far whose results have not arrived.
fn dangling(since: &[Message]) -> Vec<(String, Wish)> {
    let blocks = || since.iter().flat_map(|message| &message.content);
    let is_back = |id: &str| {
        blocks().any(|block| matches!(block, Block::ProviderResult(result) if result.call_id == id && !id.is_empty()))
    };
    blocks()
        .filter_map(|block| match block {
            Block::ProviderCall(call) if !is_back(&call.id) => {
                let asked = call.arguments.object();
                let names = ["query", "url", "command", "code"];
                let input = names.into_iter().find_map(|name| asked.get(name)?.as_str()).unwrap_or_default();
                Some((call.id.clone(), Wish::new(call.tool, input)))
            }
            _ => None,
        })
        .collect()
}
