//! Counts instructions and allocations of each step with valgrind, so that the numbers are reproducible on any machine.
//! Each step is compared with its floor: reading the same bytes as JSON and nothing else.
//!
//! Requires valgrind and the `gungraun-runner` version in `Cargo.lock`. `benches/report` runs this and prints a table.

#![expect(missing_docs, reason = "the macros make public items that nobody sees")]

mod support {
    pub(crate) mod floor;
    pub(crate) mod inputs;
    pub(crate) mod work;
}

use std::hint::black_box;

use gungraun::{Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use ikigai_core::server::Seen;
use ikigai_core::{Dialect, Event, Request};
use support::inputs::{self, Size};
use support::{floor, work};

type Bytes = &'static [u8];

/// The measured program lives for one measurement only, so the bytes that it borrows can be leaked.
fn stream(dialect: Dialect) -> (Dialect, Bytes) {
    (dialect, inputs::stream(dialect).leak())
}

fn frames(dialect: Dialect) -> (Dialect, Vec<&'static str>) {
    (dialect, floor::frames(inputs::stream(dialect).leak()))
}

fn events(dialect: Dialect) -> (Dialect, Vec<Event>) {
    (dialect, work::events(dialect))
}

fn pair(from: Dialect, to: Dialect) -> (Dialect, Dialect, Bytes) {
    (from, to, inputs::stream(from).leak())
}

fn wire_request(dialect: Dialect, size: Size) -> (Dialect, String, Vec<u8>) {
    let (path, bytes) = inputs::wire_request(dialect, size);
    (dialect, path, bytes)
}

fn request(dialect: Dialect, size: Size) -> (Dialect, Request) {
    (dialect, inputs::request(size))
}

#[library_benchmark(setup = frames)]
#[bench::anthropic(Dialect::Anthropic)]
#[bench::openai_chat(Dialect::OpenaiChat)]
#[bench::openai_responses(Dialect::OpenaiResponses)]
#[bench::gemini(Dialect::Gemini)]
fn stream_floor((dialect, frames): (Dialect, Vec<&'static str>)) -> usize {
    black_box(floor::read_stream(dialect, &frames))
}

#[library_benchmark(setup = stream)]
#[bench::anthropic(Dialect::Anthropic)]
#[bench::openai_chat(Dialect::OpenaiChat)]
#[bench::openai_responses(Dialect::OpenaiResponses)]
#[bench::gemini(Dialect::Gemini)]
fn stream_decode((dialect, bytes): (Dialect, Bytes)) -> usize {
    black_box(work::decode_stream(dialect, bytes))
}

#[library_benchmark(setup = stream)]
#[bench::anthropic(Dialect::Anthropic)]
#[bench::openai_chat(Dialect::OpenaiChat)]
#[bench::openai_responses(Dialect::OpenaiResponses)]
#[bench::gemini(Dialect::Gemini)]
fn stream_watch((dialect, bytes): (Dialect, Bytes)) -> Seen {
    black_box(work::watch_stream(dialect, bytes))
}

#[library_benchmark(setup = events)]
#[bench::anthropic(Dialect::Anthropic)]
#[bench::openai_chat(Dialect::OpenaiChat)]
#[bench::openai_responses(Dialect::OpenaiResponses)]
#[bench::gemini(Dialect::Gemini)]
fn stream_encode((dialect, events): (Dialect, Vec<Event>)) -> (usize, Vec<Event>) {
    // The events are returned to the caller, so that dropping them is not measured.
    (black_box(work::encode_stream(dialect, &events)), events)
}

#[library_benchmark(setup = pair)]
#[bench::anthropic_to_openai_chat(Dialect::Anthropic, Dialect::OpenaiChat)]
#[bench::anthropic_to_openai_responses(Dialect::Anthropic, Dialect::OpenaiResponses)]
#[bench::anthropic_to_gemini(Dialect::Anthropic, Dialect::Gemini)]
#[bench::openai_chat_to_anthropic(Dialect::OpenaiChat, Dialect::Anthropic)]
#[bench::openai_chat_to_openai_responses(Dialect::OpenaiChat, Dialect::OpenaiResponses)]
#[bench::openai_chat_to_gemini(Dialect::OpenaiChat, Dialect::Gemini)]
#[bench::openai_responses_to_anthropic(Dialect::OpenaiResponses, Dialect::Anthropic)]
#[bench::openai_responses_to_openai_chat(Dialect::OpenaiResponses, Dialect::OpenaiChat)]
#[bench::openai_responses_to_gemini(Dialect::OpenaiResponses, Dialect::Gemini)]
#[bench::gemini_to_anthropic(Dialect::Gemini, Dialect::Anthropic)]
#[bench::gemini_to_openai_chat(Dialect::Gemini, Dialect::OpenaiChat)]
#[bench::gemini_to_openai_responses(Dialect::Gemini, Dialect::OpenaiResponses)]
fn stream_translate((from, to, bytes): (Dialect, Dialect, Bytes)) -> usize {
    black_box(work::translate_stream(from, to, bytes))
}

#[library_benchmark(setup = wire_request)]
#[bench::anthropic_small(Dialect::Anthropic, Size::Small)]
#[bench::openai_chat_small(Dialect::OpenaiChat, Size::Small)]
#[bench::openai_responses_small(Dialect::OpenaiResponses, Size::Small)]
#[bench::gemini_small(Dialect::Gemini, Size::Small)]
#[bench::anthropic_large(Dialect::Anthropic, Size::Large)]
#[bench::openai_chat_large(Dialect::OpenaiChat, Size::Large)]
#[bench::openai_responses_large(Dialect::OpenaiResponses, Size::Large)]
#[bench::gemini_large(Dialect::Gemini, Size::Large)]
fn request_floor((_, _, bytes): (Dialect, String, Vec<u8>)) -> usize {
    black_box(floor::read_request(&bytes))
}

#[library_benchmark(setup = wire_request)]
#[bench::anthropic_small(Dialect::Anthropic, Size::Small)]
#[bench::openai_chat_small(Dialect::OpenaiChat, Size::Small)]
#[bench::openai_responses_small(Dialect::OpenaiResponses, Size::Small)]
#[bench::gemini_small(Dialect::Gemini, Size::Small)]
#[bench::anthropic_large(Dialect::Anthropic, Size::Large)]
#[bench::openai_chat_large(Dialect::OpenaiChat, Size::Large)]
#[bench::openai_responses_large(Dialect::OpenaiResponses, Size::Large)]
#[bench::gemini_large(Dialect::Gemini, Size::Large)]
fn request_decode((dialect, path, bytes): (Dialect, String, Vec<u8>)) -> Option<Request> {
    black_box(work::decode_request(dialect, &path, &bytes))
}

#[library_benchmark(setup = wire_request)]
#[bench::anthropic_small(Dialect::Anthropic, Size::Small)]
#[bench::openai_chat_small(Dialect::OpenaiChat, Size::Small)]
#[bench::openai_responses_small(Dialect::OpenaiResponses, Size::Small)]
#[bench::gemini_small(Dialect::Gemini, Size::Small)]
#[bench::anthropic_large(Dialect::Anthropic, Size::Large)]
#[bench::openai_chat_large(Dialect::OpenaiChat, Size::Large)]
#[bench::openai_responses_large(Dialect::OpenaiResponses, Size::Large)]
#[bench::gemini_large(Dialect::Gemini, Size::Large)]
fn request_envelope((_, _, bytes): (Dialect, String, Vec<u8>)) -> (Option<(usize, Option<bool>)>, Vec<u8>) {
    (black_box(work::read_envelope(&bytes)), bytes)
}

#[library_benchmark(setup = request)]
#[bench::anthropic_small(Dialect::Anthropic, Size::Small)]
#[bench::openai_chat_small(Dialect::OpenaiChat, Size::Small)]
#[bench::openai_responses_small(Dialect::OpenaiResponses, Size::Small)]
#[bench::gemini_small(Dialect::Gemini, Size::Small)]
#[bench::anthropic_large(Dialect::Anthropic, Size::Large)]
#[bench::openai_chat_large(Dialect::OpenaiChat, Size::Large)]
#[bench::openai_responses_large(Dialect::OpenaiResponses, Size::Large)]
#[bench::gemini_large(Dialect::Gemini, Size::Large)]
fn request_encode((dialect, request): (Dialect, Request)) -> (Option<Vec<u8>>, Request) {
    (black_box(work::encode_request(dialect, &request)), request)
}

#[library_benchmark(setup = wire_request)]
#[bench::openai_chat_large_to_anthropic(Dialect::OpenaiChat, Size::Large)]
fn request_translate((dialect, path, bytes): (Dialect, String, Vec<u8>)) -> Option<Vec<u8>> {
    let request = work::decode_request(dialect, &path, &bytes)?;
    black_box(work::encode_request(Dialect::Anthropic, &request))
}

library_benchmark_group!(
    name = streams,
    benchmarks = [stream_floor, stream_watch, stream_decode, stream_encode, stream_translate]
);
library_benchmark_group!(
    name = requests,
    benchmarks = [request_floor, request_envelope, request_decode, request_encode, request_translate]
);
main!(config = LibraryBenchmarkConfig::default().tool(Dhat::default()), library_benchmark_groups = [streams, requests]);
