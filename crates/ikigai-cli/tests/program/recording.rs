//! `ikigai sim --record` and `--replay`: exchanges with a provider, recorded and replayed.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Simulator, ikigai, said};

const KEY: &str = "sk-proj-0123456789abcdefghijklmnop";

/// Returns a server's complete answer: head and body as sent.
fn ask(simulator: &Simulator, path: &str, key: &str, body: &Value) -> (String, Vec<u8>) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(simulator.url().trim_start_matches("http://")).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer {key}\r\nx-goog-api-key: {key}\r\n\
         anthropic-version: 2023-06-01\r\naccept-encoding: gzip\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut raw = Vec::new();
    let _ = stream.read_to_end(&mut raw);
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(raw.len());
    let head = String::from_utf8_lossy(raw.get(..end).unwrap()).into_owned();
    (head, raw.get(end + 4..).unwrap_or_default().to_vec())
}

/// Returns a request in each dialect, streamed and not.
fn requests(text: &str) -> Vec<(&'static str, Value)> {
    let message = json!([{"role": "user", "content": text}]);
    let contents = json!([{"role": "user", "parts": [{"text": text}]}]);
    let mut all = vec![
        ("/v1beta/models/gemini-2.5-flash:generateContent", json!({"contents": contents})),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", json!({"contents": contents})),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", json!({"contents": contents})),
    ];
    for stream in [false, true] {
        all.push((
            "/v1/messages",
            json!({"model": "claude-sonnet-4-5", "max_tokens": 99, "stream": stream, "messages": message}),
        ));
        all.push(("/v1/chat/completions", json!({"model": "gpt-4.1", "stream": stream, "messages": message})));
        all.push(("/v1/responses", json!({"model": "gpt-4.1", "stream": stream, "input": text})));
    }
    all
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn record(folder: &Path, upstream: &str) -> Simulator {
    Simulator::with(&["--record", folder.to_str().unwrap(), "--upstream", upstream])
}

fn replay(folder: &Path) -> Simulator {
    Simulator::with(&["--replay", folder.to_str().unwrap()])
}

#[test]
fn every_dialect_is_replayed_byte_for_byte_with_its_framing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("recordings");
    let provider = Simulator::with(&[]);
    let recorder = record(&folder, &provider.url());
    let direct: Vec<_> = requests("count to 30").iter().map(|(path, body)| ask(&provider, path, KEY, body)).collect();
    let recorded: Vec<_> = requests("count to 30").iter().map(|(path, body)| ask(&recorder, path, KEY, body)).collect();
    drop((recorder, provider));
    assert_eq!(files(&folder).len(), 9);
    let replayer = replay(&folder);
    for (number, (path, body)) in requests("count to 30").iter().enumerate() {
        let (head, bytes) = ask(&replayer, path, "another-key", body);
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        // Every chunk with its length: the framing is compared, too.
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&direct[number].1), "{path}");
        let content_type = |head: &str| head.lines().find(|line| line.starts_with("content-type")).unwrap().to_owned();
        assert_eq!(content_type(&head), content_type(&recorded[number].0));
    }
    let written: Vec<String> =
        files(&folder).iter().map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).collect();
    assert!(!written.concat().contains(KEY));
}

#[test]
fn repeated_requests_are_answered_in_order_and_misses_name_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.toml");
    std::fs::write(&script, "[[reply]]\ntext = \"one\"\n[[reply]]\ntext = \"two\"\n").unwrap();
    let recordings = folder.path().join("recordings");
    let provider = Simulator::with(&["--script", script.to_str().unwrap()]);
    let chat = |text: &str| json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": text}]});
    let path = "/v1/chat/completions";
    let recorder = record(&recordings, &provider.url());
    for text in ["Hello", "Hello", "Something else"] {
        ask(&recorder, path, KEY, &chat(text));
    }
    let replayer = replay(&recordings);
    let say = |text: &str| {
        let (head, body) = ask(&replayer, path, KEY, &chat(text));
        let body: Value = serde_json::from_slice(&body).unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), body)
    };
    let answers: Vec<Value> = (0..3).map(|_| say("Hello").1["choices"][0]["message"]["content"].clone()).collect();
    assert_eq!(answers, ["one", "two", "two"]);
    let (status, body) = say("Hullo");
    let nearest = files(&recordings).remove(0);
    let expected = format!(
        "no recording in {} matches POST {path}; the nearest is {nearest}, where body.messages[0].content is \"Hullo\", \
         recorded was \"Hello\"",
        recordings.display()
    );
    assert_eq!((status.as_str(), body["error"]["message"].as_str().unwrap()), ("404", expected.as_str()));
    let none = said(&mut ikigai(&["sim", "--replay", folder.path().to_str().unwrap()]));
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("there are no recordings in this folder"), "{}", none.stderr);
    std::fs::write(recordings.join("0009-broken.json"), "{\n  \"request\": 1\n}").unwrap();
    let broken = said(&mut ikigai(&["sim", "--replay", recordings.to_str().unwrap()]));
    assert!(
        broken.stderr.contains("0009-broken.json: invalid type: integer `1`") && broken.stderr.contains("line 2"),
        "{}",
        broken.stderr
    );
}

/// Starts a provider that answers every connection with these bytes, then closes it.
fn provider(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 65536];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(&answer);
        }
    });
    url
}

#[test]
fn an_upstream_that_dies_leaves_no_recording_and_the_client_sees_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    for (name, answer) in [
        ("chunked", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        ("length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello"),
    ] {
        let recordings = folder.path().join(name);
        let recorder = record(&recordings, &provider(answer.as_bytes().to_vec()));
        let (head, body) = ask(&recorder, "/v1/anything", KEY, &json!({}));
        assert!(head.starts_with("HTTP/1.1 200"), "{name}: {head}");
        assert_eq!(String::from_utf8_lossy(&body), "5\r\nhello\r\n", "{name}: there is no last chunk");
        assert_eq!(files(&recordings), Vec::<String>::new(), "{name}");
    }
    let recordings = folder.path().join("refused");
    let recorder = record(&recordings, "http://127.0.0.1:1");
    let (head, body) = ask(&recorder, "/v1/messages", KEY, &json!({}));
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(head.starts_with("HTTP/1.1 502") && body.contains("the upstream did not answer"), "{head} {body}");
    assert_eq!(files(&recordings), Vec::<String>::new());
}

#[test]
fn an_answer_that_is_too_large_passes_and_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let large = 65 << 20;
    let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {large}\r\nconnection: close\r\n\r\n").into_bytes();
    answer.resize(answer.len() + large, b'x');
    let recorder = record(folder.path(), &provider(answer));
    let (head, body) = ask(&recorder, "/v1/anything", KEY, &json!({}));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(body.iter().filter(|byte| **byte == b'x').count(), large);
    assert!(body.ends_with(b"0\r\n\r\n"));
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn a_compressed_answer_is_recorded_plain() {
    let packed = gzip(b"{\"text\":\"hello\"}");
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        packed.len()
    )
    .into_bytes();
    answer.extend(packed);
    let folder = tempfile::tempdir().unwrap();
    let recorder = record(folder.path(), &provider(answer));
    ask(&recorder, "/v1/anything", KEY, &json!({}));
    let replayer = replay(folder.path());
    let (head, body) = ask(&replayer, "/v1/anything", KEY, &json!({}));
    assert!(!head.contains("content-encoding"), "{head}");
    assert!(String::from_utf8_lossy(&body).contains("{\"text\":\"hello\"}"), "{body:?}");
}

/// Compresses bytes with the system's gzip.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut command = std::process::Command::new("gzip");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn paths_and_answers_that_mean_harm_stay_in_the_folder_and_keep_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let recordings = folder.path().join("a/b");
    let echo = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nset-cookie: session={KEY}\r\ncontent-length: {}\r\n\r\nkey {KEY}",
        KEY.len() + 4
    );
    let recorder = record(&recordings, &provider(echo.into_bytes()));
    let path = format!("/v1beta/models/..%2f..%2f..%2fetc%2fpasswd:generateContent?key={KEY}");
    let (head, body) =
        ask(&recorder, &path, KEY, &json!({"contents": [{"parts": [{"text": format!("my key: {KEY}")}]}]}));
    assert!(
        head.starts_with("HTTP/1.1 200") && String::from_utf8_lossy(&body).contains(KEY),
        "the client gets what came"
    );
    assert_eq!(files(folder.path()), ["a"]);
    let names = files(&recordings);
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("0001-v1beta-models-2f-2f-2fetc-2fpasswd-generatecontent-"), "{names:?}");
    let written = std::fs::read_to_string(recordings.join(&names[0])).unwrap();
    assert!(!written.contains(KEY) && !written.contains("session"), "{written}");
}
