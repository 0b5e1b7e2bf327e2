//! Translating a large request from one dialect to another never holds more than three times its size.
//!
//! A separate binary, because its allocator counts.

use ikigai_core::catalog::Rules;
use ikigai_core::provider::Quirks;
use ikigai_core::wire::{Incoming, Target};
use ikigai_core::{Block, Dialect, Limits, Message, Request};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const SIZE: usize = 4 << 20;

/// Returns the contents that make requests large.
fn large() -> [(&'static str, Vec<Block>); 3] {
    let line = "    let answer = model.ask(\"Why is the sky blue?\").await?;\n";
    [
        ("a picture", vec![Block::image_bytes(&vec![0xA5; SIZE / 4 * 3], "image/png"), Block::text("What is this?")]),
        ("a long text", vec![Block::text(line.repeat(SIZE / line.len()))]),
        ("many texts", (0..SIZE / 4096).map(|_| Block::text(line.repeat(4096 / line.len()))).collect()),
    ]
}

/// Returns the peak memory during some work, in addition to what was held before all of it.
fn peak<T>(before: usize, work: impl FnOnce() -> T) -> (T, usize) {
    MEMORY.reset_peak_usage();
    let done = work();
    (done, MEMORY.peak_usage() - before)
}

#[test]
fn a_large_request_is_not_held_three_times() {
    let (rules, quirks) = (Rules::default(), Quirks::default());
    let target = Target::new("test", &quirks, &rules);
    let mut limits = Limits::server();
    limits.body = 2 * SIZE;
    let mut too_much = Vec::new();
    for (what, blocks) in large() {
        let request = Request::new("m").message(Message::user(blocks));
        for from in Dialect::ALL {
            let wire = from.encode_request(&request, &target, &limits).unwrap();
            let (path, length) = (wire.path, wire.body.len());
            for to in Dialect::ALL.into_iter().filter(|to| *to != from) {
                let before = MEMORY.current_usage();
                let body = wire.body.clone();
                let incoming = Incoming::new(&body).at(&path);
                let (decoded, reading) = peak(before, || from.decode_request(incoming, &limits).unwrap().0);
                // The bytes are dropped once they have been read.
                drop(body);
                let (_, writing) = peak(before, || to.encode_request(&decoded, &target, &limits).unwrap());
                let [reading, writing] = [reading, writing].map(|bytes| bytes as f64 / length as f64);
                if reading.max(writing) >= 3.0 {
                    too_much.push(format!("{what}, {from} to {to}: reading {reading:.2}, writing {writing:.2}"));
                }
            }
        }
    }
    assert!(too_much.is_empty(), "of the request's size:\n{}", too_much.join("\n"));
}
