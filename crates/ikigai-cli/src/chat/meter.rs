//! What a turn takes, as far as that can be told while it runs.

use ikigai::{Block, Facts, Message, Money, Response, Usage};

/// About so many bytes are a token.
pub(crate) const BYTES_A_TOKEN: u64 = 4;

/// What a turn takes so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    model: String,
    /// The model's prices, where they are known.
    facts: Option<Facts>,
    /// About so many tokens are sent with each request.
    prompt_tokens: u64,
    /// The key that ends the turn.
    stops: &'static str,
    /// What the requests before this one took.
    tokens: u64,
    cost: Option<Money>,
    /// What has come of this one, in bytes.
    bytes: u64,
    is_running: bool,
}

impl Meter {
    /// A turn with a model, with so many tokens to send, that a key ends.
    pub(crate) fn new(model: String, facts: Option<Facts>, prompt_tokens: u64, stops: &'static str) -> Self {
        Meter { model, facts, prompt_tokens, stops, ..Meter::default() }
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn stops(&self) -> &'static str {
        self.stops
    }

    /// Roughly what sending the request costs. `None` if the prices are unknown.
    pub(crate) fn prompt_cost(&self) -> Option<Money> {
        let usage = Usage::new(self.prompt_tokens, 0);
        Some(self.facts.as_ref()?.cost(&usage)?.total())
    }

    /// An answer begins.
    pub(crate) fn begin(&mut self) {
        self.is_running = true;
    }

    /// So much of it has come.
    pub(crate) fn wrote(&mut self, text: &str) {
        self.bytes += text.len() as u64;
    }

    /// It is whole, and it is known what it took.
    pub(crate) fn paid(&mut self, usage: Option<&Usage>, cost: Option<Money>) {
        let written = usage.map(|usage| usage.output_tokens + usage.thinking_tokens);
        self.tokens += written.unwrap_or(self.bytes / BYTES_A_TOKEN);
        self.cost = sum(self.cost, cost);
        (self.bytes, self.is_running) = (0, false);
    }

    /// About so much an answer cost that is not whole: providers count at its end.
    pub(crate) fn estimate(&self, partial: &Response) -> Option<Money> {
        let mut usage = partial.usage.clone().unwrap_or_default();
        let written = partial.content.iter().map(written).sum::<u64>() / BYTES_A_TOKEN;
        usage.output_tokens = usage.output_tokens.max(written);
        if usage.prompt_tokens() == 0 {
            usage.input_tokens = self.prompt_tokens;
        }
        self.facts.as_ref()?.cost(&usage).map(|cost| cost.total())
    }

    /// About so many tokens were written.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens + self.bytes / BYTES_A_TOKEN
    }

    /// About so much was spent.
    pub(crate) fn cost(&self) -> Option<Money> {
        if !self.is_running {
            return self.cost;
        }
        let usage = Usage::new(self.prompt_tokens, self.bytes / BYTES_A_TOKEN);
        sum(self.cost, self.facts.as_ref().and_then(|facts| facts.cost(&usage)).map(|cost| cost.total()))
    }
}

/// How many bytes of a block the model wrote.
fn written(block: &Block) -> u64 {
    let bytes = match block {
        Block::Text(text) => text.text.len(),
        Block::Thinking(thinking) => thinking.text.len(),
        Block::ToolCall(call) => call.arguments.text().len(),
        _ => 0,
    };
    bytes as u64
}

/// About so many tokens a message is.
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

/// What is known of two sums.
pub(crate) fn sum(one: Option<Money>, other: Option<Money>) -> Option<Money> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}
