//! What the simulator remembers between requests.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use ikigai_core::{Dialect, Request};
use ikigai_listen::Room;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::Config;
use crate::bounded::Bounded;
use crate::deliver::Answer;
use crate::fault::{Fault, FaultRule};
use crate::log::Entry;
use crate::replay::Recordings;
use crate::script::{Script, Scripted};
use crate::seals::Seals;
use crate::service::Call;

/// The most cached prompts that are kept; the oldest go first.
const KEPT: usize = 10_000;

/// The most bytes of stored answers that are kept, including their conversations; the oldest go first.
const STORED: usize = 64 << 20;
/// The most bytes of requests that are held at once while they are answered.
const BODIES: usize = 128 << 20;
/// The memory that a value in a tree of JSON takes besides its text.
const PER_VALUE: usize = 64;

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) config: Config,
    pub(crate) seals: Seals,
    count: AtomicU64,
    connections: Arc<AtomicUsize>,
    state: Mutex<State>,
    refuse: mpsc::UnboundedSender<Duration>,
    /// Room for the bodies that are held at once.
    pub(crate) room: Room,
    /// Answers made once, by dialect and by whether they are streamed.
    canned: [OnceLock<Answer>; 8],
}

#[derive(Debug)]
struct State {
    script: Script,
    faults: Vec<FaultRule>,
    received: Bounded<Entry>,
    /// Answers of the Responses API that the client asked to keep, by id.
    stored: Bounded<(String, Stored)>,
    /// Beginnings of prompts that a provider's cache would have, by fingerprint.
    cached: HashSet<u64>,
    cached_order: VecDeque<u64>,
    /// The recordings that have been used.
    replayed: HashSet<usize>,
}

impl State {
    fn new(config: &Config) -> Self {
        State {
            script: config.script.clone(),
            faults: config.faults.clone(),
            received: Bounded::new(config.log_bytes),
            stored: Bounded::new(STORED),
            cached: HashSet::new(),
            cached_order: VecDeque::new(),
            replayed: HashSet::new(),
        }
    }
}

/// A stored answer of the Responses API.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) response: Value,
    /// The whole conversation that it answers, as input items.
    pub(crate) input: Vec<Value>,
}

/// An open connection, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Opened(Arc<AtomicUsize>);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Stored {
    /// The items of the answer.
    pub(crate) fn output(&self) -> &[Value] {
        self.response.get("output").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

impl Memory {
    pub(crate) fn new(config: Config, refuse: mpsc::UnboundedSender<Duration>) -> Self {
        Memory {
            state: Mutex::new(State::new(&config)),
            seals: Seals::new(config.seed),
            config,
            count: AtomicU64::new(0),
            connections: Arc::default(),
            room: Room::new(BODIES),
            refuse,
            canned: Default::default(),
        }
    }

    /// The answer to every request of a kind: the first one's, sent in one piece.
    pub(crate) fn canned(&self, dialect: Dialect, stream: bool, make: impl FnOnce() -> Answer) -> Answer {
        let place = match dialect {
            Dialect::Anthropic => 0,
            Dialect::OpenaiChat => 2,
            Dialect::OpenaiResponses => 4,
            Dialect::Gemini => 6,
            _ => return make(),
        };
        match self.canned.get(place + usize::from(stream)) {
            Some(slot) => slot.get_or_init(|| make().in_one_piece()).clone(),
            None => make(),
        }
    }

    /// A poisoned lock only means that a request panicked; what is remembered is still whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next request's number, counted from 1.
    pub(crate) fn next_number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn open_connection(&self) -> Opened {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Opened(Arc::clone(&self.connections))
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn log(&self, entry: Entry) {
        let weight = entry.weight();
        self.state().received.push(entry, weight);
    }

    pub(crate) fn received(&self) -> Vec<Entry> {
        self.state().received.iter().cloned().collect()
    }

    pub(crate) fn expect(&self, script: Script) {
        self.state().script.reply.extend(script.reply);
    }

    pub(crate) fn add_fault(&self, rule: FaultRule) {
        self.state().faults.push(rule);
    }

    pub(crate) fn reset(&self) {
        *self.state() = State::new(&self.config);
        self.count.store(0, Ordering::Relaxed);
    }

    /// Stops listening for a while, so that connections are refused.
    pub(crate) fn refuse_for(&self, pause: Duration) {
        let _ = self.refuse.send(pause);
    }

    /// The fault that happens to request `number`, if any.
    pub(crate) fn fault(&self, number: u64) -> Option<Fault> {
        let state = self.state();
        state.faults.iter().find(|rule| rule.happens(number, self.config.seed)).map(|rule| rule.fault.clone())
    }

    pub(crate) fn scripted(&self, dialect: Dialect, request: &Request, headers: &HeaderMap) -> Option<Scripted> {
        self.state().script.take(dialect, request, headers)
    }

    /// The recorded answer to a call, or why there is none.
    pub(crate) fn replay(&self, recordings: &Recordings, call: &Call) -> Result<Answer, String> {
        recordings.answer(call, &mut self.state().replayed)
    }

    pub(crate) fn store(&self, id: &str, stored: Stored) {
        let weight = weight(&stored.response) + stored.input.iter().map(weight).sum::<usize>();
        let mut state = self.state();
        state.stored.remove(|(known, _)| known == id);
        state.stored.push((id.to_owned(), stored), weight);
    }

    pub(crate) fn stored(&self, id: &str) -> Option<Stored> {
        self.state().stored.iter().rev().find(|(known, _)| known == id).map(|(_, stored)| stored.clone())
    }

    /// Whether this is the id of an item in a stored answer.
    pub(crate) fn has_item(&self, id: &str) -> bool {
        let is_it = |item: &Value| item.get("id").is_some_and(|own| own == id);
        let has = |stored: &Stored| stored.output().iter().chain(&stored.input).any(is_it);
        self.state().stored.iter().any(|(_, stored)| has(stored))
    }

    pub(crate) fn forget(&self, id: &str) -> bool {
        self.state().stored.remove(|(known, _)| known == id)
    }

    /// Whether a prompt that begins like this has been seen before.
    pub(crate) fn cache_knows(&self, fingerprint: u64) -> bool {
        self.state().cached.contains(&fingerprint)
    }

    /// Keeps the beginning of a prompt, as a provider's cache does.
    pub(crate) fn cache_keep(&self, fingerprint: u64) {
        let mut state = self.state();
        if state.cached.insert(fingerprint) {
            state.cached_order.push_back(fingerprint);
            if state.cached_order.len() > KEPT
                && let Some(oldest) = state.cached_order.pop_front()
            {
                state.cached.remove(&oldest);
            }
        }
    }
}

/// The approximate memory that a value takes, in bytes.
fn weight(value: &Value) -> usize {
    PER_VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
