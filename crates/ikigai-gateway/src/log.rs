//! One line in the log for each request, written when its answer ends.

use std::time::{Duration, Instant};

use ikigai::{Dialect, Usage};
use ikigai_core::Loss;
use ikigai_core::server::Seen;

/// The longest text in the log, and the longest list of losses in a header, in bytes.
const LONGEST: usize = 2000;

/// The log entry of one request. It is written on drop: when the answer has been sent or the client is gone.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) method: String,
    /// Without its query, which may contain a key.
    pub(crate) path: String,
    pub(crate) client: Option<String>,
    pub(crate) dialect: Option<Dialect>,
    /// The model that the client asked for.
    pub(crate) asked: Option<String>,
    /// The model that answered.
    pub(crate) target: Option<String>,
    pub(crate) upstream_dialect: Option<Dialect>,
    pub(crate) upstream_id: Option<String>,
    pub(crate) mode: Option<&'static str>,
    pub(crate) status: u16,
    /// The attempts that failed, at all targets.
    pub(crate) failed_tries: usize,
    pub(crate) request_bytes: usize,
    pub(crate) answer_bytes: u64,
    pub(crate) losses: Vec<Loss>,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<&'static str>,
    pub(crate) error: Option<String>,
    pub(crate) outcome: Outcome,
    began: Instant,
    first: Option<Duration>,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has not: the client is gone.
    ClientGone,
    Complete,
    /// It was an error from the start.
    Refused,
    /// It broke off after it had begun.
    Broken,
}

impl Entry {
    pub(crate) fn new(id: String, method: &str, path: &str) -> Self {
        Entry {
            id,
            method: method.to_owned(),
            path: path.to_owned(),
            client: None,
            dialect: None,
            asked: None,
            target: None,
            upstream_dialect: None,
            upstream_id: None,
            mode: None,
            status: 0,
            failed_tries: 0,
            request_bytes: 0,
            answer_bytes: 0,
            losses: Vec::new(),
            usage: None,
            finish: None,
            error: None,
            outcome: Outcome::ClientGone,
            began: Instant::now(),
            first: None,
        }
    }

    /// Counts bytes of the answer that were sent.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.answer_bytes += bytes as u64;
        if self.first.is_none() {
            self.first = Some(self.began.elapsed());
        }
    }

    /// Records what was seen of an answer.
    pub(crate) fn saw(&mut self, seen: Seen) {
        self.usage = seen.usage;
        self.finish = seen.finish_reason.map(|reason| reason.as_str());
        self.error = seen.error.map(|error| format!("{}: {}", error.kind, error.message));
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let outcome = match self.outcome {
            Outcome::ClientGone => "client_gone",
            Outcome::Complete => "complete",
            Outcome::Refused => "refused",
            Outcome::Broken => "broken",
        };
        let usage = self.usage.clone().unwrap_or_default();
        let tokens = |count: u64| self.usage.is_some().then_some(count);
        let losses = (!self.losses.is_empty()).then(|| listed(&self.losses));
        tracing::info!(
            target: "ikigai::gateway",
            id = self.id,
            method = self.method,
            path = cut(&self.path),
            client = self.client,
            dialect = self.dialect.map(Dialect::as_str),
            asked = self.asked.as_deref().map(cut),
            target_model = self.target,
            target_dialect = self.upstream_dialect.map(Dialect::as_str),
            target_request = self.upstream_id.as_deref().map(cut),
            mode = self.mode,
            status = self.status,
            outcome,
            failed_tries = self.failed_tries,
            request_bytes = self.request_bytes,
            answer_bytes = self.answer_bytes,
            input_tokens = tokens(usage.input_tokens),
            output_tokens = tokens(usage.output_tokens),
            thinking_tokens = tokens(usage.thinking_tokens),
            cache_read_tokens = tokens(usage.cache_read_tokens),
            cache_write_tokens = tokens(usage.cache_write_tokens),
            finish = self.finish,
            error = self.error.as_deref().map(cut),
            losses,
            first_ms = self.first.map(milliseconds),
            ms = milliseconds(self.began.elapsed()),
            "request"
        );
    }
}

/// Cuts a text to what the log has room for: input from outside can be of any length.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// Lists losses in one line: as many as fit, and how many more there are.
pub(crate) fn listed(losses: &[Loss]) -> String {
    let mut line = String::new();
    for (place, loss) in losses.iter().enumerate() {
        let one = loss.to_string();
        if line.len() + one.len() > LONGEST {
            line.push_str(&format!("; and {} more", losses.len() - place));
            break;
        }
        if place > 0 {
            line.push_str("; ");
        }
        line.push_str(&one);
    }
    line
}
