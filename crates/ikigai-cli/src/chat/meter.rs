//! The tokens and cost of a turn, as far as they are known while it runs.

use ikigai::{Block, Facts, Message, Money, Response, Usage};

/// The approximate number of bytes per token.
pub(crate) const BYTES_A_TOKEN: u64 = 4;

/// The tokens and cost of a turn so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    model: String,
    /// The model's prices, if known.
    facts: Option<Facts>,
    /// About how many tokens are sent with each request.
    prompt_tokens: u64,
    /// The key that ends the turn.
    stops: &'static str,
    /// The tokens and cost of the requests before this one.
    tokens: u64,
    cost: Option<Money>,
    /// The bytes that have arrived of this one.
    bytes: u64,
    is_running: bool,
}

impl Meter {
    /// Creates a meter for a turn that sends this many tokens to a model and that a key ends.
    pub(crate) fn new(model: String, facts: Option<Facts>, prompt_tokens: u64, stops: &'static str) -> Self {
        Meter { model, facts, prompt_tokens, stops, ..Meter::default() }
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn stops(&self) -> &'static str {
        self.stops
    }

    /// Returns roughly what sending the request costs. `None` if the prices are unknown.
    pub(crate) fn prompt_cost(&self) -> Option<Money> {
        let usage = Usage::new(self.prompt_tokens, 0);
        Some(self.facts.as_ref()?.cost(&usage)?.total())
    }

    /// Notes that an answer begins.
    pub(crate) fn begin(&mut self) {
        self.is_running = true;
    }

    /// Counts a piece of the answer.
    pub(crate) fn wrote(&mut self, text: &str) {
        self.bytes += text.len() as u64;
    }

    /// Records the usage and cost of a complete answer.
    pub(crate) fn paid(&mut self, usage: Option<&Usage>, cost: Option<Money>) {
        let written = usage.map(|usage| usage.output_tokens + usage.thinking_tokens);
        self.tokens += written.unwrap_or(self.bytes / BYTES_A_TOKEN);
        self.cost = sum(self.cost, cost);
        (self.bytes, self.is_running) = (0, false);
    }

    /// Returns about how much an incomplete answer cost: providers count at its end.
    pub(crate) fn estimate(&self, partial: &Response) -> Option<Money> {
        let mut usage = partial.usage.clone().unwrap_or_default();
        let written = partial.content.iter().map(written).sum::<u64>() / BYTES_A_TOKEN;
        usage.output_tokens = usage.output_tokens.max(written);
        if usage.prompt_tokens() == 0 {
            usage.input_tokens = self.prompt_tokens;
        }
        self.facts.as_ref()?.cost(&usage).map(|cost| cost.total())
    }

    /// Returns about how many tokens were written.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens + self.bytes / BYTES_A_TOKEN
    }

    /// Returns about how much was spent.
    pub(crate) fn cost(&self) -> Option<Money> {
        if !self.is_running {
            return self.cost;
        }
        let usage = Usage::new(self.prompt_tokens, self.bytes / BYTES_A_TOKEN);
        sum(self.cost, self.facts.as_ref().and_then(|facts| facts.cost(&usage)).map(|cost| cost.total()))
    }
}

/// Returns how many bytes of a block the model wrote.
fn written(block: &Block) -> u64 {
    let bytes = match block {
        Block::Text(text) => text.text.len(),
        Block::Thinking(thinking) => thinking.text.len(),
        Block::ToolCall(call) => call.arguments.text().len(),
        _ => 0,
    };
    bytes as u64
}

/// Returns about how many tokens a message has.
pub(crate) fn tokens_of(message: &Message) -> u64 {
    let said = |block: &Block| match block {
        Block::ToolResult(result) => {
            result.content.iter().filter_map(Block::as_text).map(str::len).sum::<usize>() as u64
        }
        Block::Document(document) => match &document.source {
            ikigai::Source::Text { text, .. } => text.len() as u64,
            _ => 0,
        },
        block => written(block),
    };
    message.content.iter().map(said).sum::<u64>() / BYTES_A_TOKEN
}

/// Adds two sums, either of which may be unknown.
pub(crate) fn sum(one: Option<Money>, other: Option<Money>) -> Option<Money> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}
