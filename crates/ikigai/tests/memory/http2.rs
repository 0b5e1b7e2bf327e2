//! Servers that misuse HTTP/2: frames that say nothing, without end.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::ask_in_vain;

/// Returns a frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH: u8 = 5;
const PING: u8 = 6;
const WINDOW: u8 = 8;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Returns the head of an answer to the first request, with a status of three digits.
fn head(status: &[u8; 3]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, &[&[0x08, 3], status.as_slice()].concat())
}

/// Starts a server that waits for a request, sends a beginning, and then one piece forever, or until nobody reads it.
fn server(beginning: Vec<u8>, piece: Vec<u8>) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let many = piece.repeat((16 << 10) / piece.len().max(1));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut reader = stream.try_clone().unwrap();
            let mut seen = vec![0; 64 << 10];
            let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[]));
            let mut read = 0;
            // The preface and the request.
            while read < 100 {
                match reader.read(&mut seen) {
                    Ok(count) if count > 0 => read += count,
                    _ => break,
                }
            }
            // What the client answers has to be read, or it stops.
            std::thread::spawn(move || while reader.read(&mut seen).is_ok_and(|count| count > 0) {});
            let _ = stream.write_all(&beginning);
            while !many.is_empty() && stream.write_all(&many).is_ok() {}
        }
    });
    url
}

#[test]
fn answers_that_misuse_http2() {
    let nothing = Vec::new;
    let text = |length: usize| [&[0x00, 1, b'a', 0x7f], &[(length - 127) as u8][..], &vec![b'b'; length]].concat();
    for (case, beginning, piece) in [
        ("interim answers", nothing(), head(b"103")),
        ("interim answers after the head", head(b"200"), head(b"103")),
        ("data before the head", frame(DATA, 0, 1, b"a"), frame(DATA, 0, 1, b"a")),
        ("data after an interim answer", head(b"103"), frame(DATA, 0, 1, b"a")),
        ("empty data", head(b"200"), frame(DATA, 0, 1, b"")),
        ("tiny data", head(b"200"), frame(DATA, 0, 1, b" ")),
        ("padding", head(b"200"), frame(DATA, 8, 1, &[&[254][..], &[0; 254]].concat())),
        ("more data than the window", head(b"200"), frame(DATA, 0, 1, &[b' '; 16 << 10])),
        ("pings", head(b"200"), frame(PING, 0, 0, &[7; 8])),
        ("settings", nothing(), frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255])),
        (
            "no window for the request",
            frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]),
            frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]),
        ),
        ("windows", nothing(), frame(WINDOW, 0, 0, &[0, 0, 0, 1])),
        ("priorities", nothing(), frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1])),
        ("frames of an unknown kind", nothing(), frame(0xbb, 0, 1, &[0; 1000])),
        ("promises", nothing(), frame(PUSH, END_HEADERS, 1, &[0, 0, 0, 2, 0x08, 3, b'2', b'0', b'0'])),
        ("resets of other streams", nothing(), frame(RESET, 0, 3, &[0, 0, 0, 8])),
        (
            "headers without an end",
            frame(HEADERS, 0, 1, &[0x08, 3, b'2', b'0', b'0']),
            frame(CONTINUATION, 0, 1, &text(200)),
        ),
        ("empty continuations", frame(HEADERS, 0, 1, &[0x08, 3, b'2', b'0', b'0']), frame(CONTINUATION, 0, 1, &[])),
        ("trailers", head(b"200"), frame(HEADERS, END_HEADERS, 1, &text(200))),
    ] {
        let http = ikigai::transport::Http::builder().no_proxy().http2_only().build().unwrap();
        ask_in_vain(case, http, server(beginning, piece), Duration::from_millis(800));
    }
}
