//! Measures the time and allocations of each step on this machine: for information, not as a test.

mod support {
    pub(crate) mod floor;
    pub(crate) mod inputs;
    pub(crate) mod work;
}

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use ikigai_core::Dialect;
use ikigai_core::server::{Edit, Envelope};
use support::inputs::{self, Size};
use support::{floor, work};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(args = Dialect::ALL)]
fn stream_floor(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let bytes = inputs::stream(dialect);
    let frames = floor::frames(&bytes);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| floor::read_stream(dialect, &frames));
}

#[divan::bench(args = Dialect::ALL)]
fn stream_watch(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let bytes = inputs::stream(dialect);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::watch_stream(dialect, &bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn stream_decode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let bytes = inputs::stream(dialect);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::decode_stream(dialect, &bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn stream_encode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let events = work::events(dialect);
    let sent = work::encode_stream(dialect, &events);
    bencher.counter(BytesCount::new(sent)).bench(|| work::encode_stream(dialect, &events));
}

#[divan::bench(args = Dialect::ALL.iter().flat_map(|from| Dialect::ALL.map(|to| (*from, to))).filter(|(from, to)| from != to).map(Pair))]
fn stream_translate(bencher: Bencher<'_, '_>, Pair((from, to)): &Pair) {
    let bytes = inputs::stream(*from);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::translate_stream(*from, *to, &bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn large_request_floor(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (_, bytes) = inputs::wire_request(dialect, Size::Large);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| floor::read_request(&bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn large_request_envelope(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (_, bytes) = inputs::wire_request(dialect, Size::Large);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::read_envelope(&bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn large_request_rename(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (_, bytes) = inputs::wire_request(dialect, Size::Large);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| rename_model(&bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn large_request_decode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (path, bytes) = inputs::wire_request(dialect, Size::Large);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::decode_request(dialect, &path, &bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn large_request_encode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let request = inputs::request(Size::Large);
    bencher.bench(|| work::encode_request(dialect, &request));
}

#[divan::bench(args = Dialect::ALL)]
fn small_request_decode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let (path, bytes) = inputs::wire_request(dialect, Size::Small);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| work::decode_request(dialect, &path, &bytes));
}

#[divan::bench(args = Dialect::ALL)]
fn small_request_encode(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let request = inputs::request(Size::Small);
    bencher.bench(|| work::encode_request(dialect, &request));
}

/// Returns the same request for another model.
fn rename_model(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(Envelope::read(bytes).ok()?.with(&[("model", Edit::Text("another-model"))]))
}

/// Two dialects, with a name for the table.
struct Pair((Dialect, Dialect));

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.0.0, self.0.1)
    }
}
