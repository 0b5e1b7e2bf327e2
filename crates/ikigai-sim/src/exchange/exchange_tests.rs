use http::HeaderValue;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

const KEY: &str = "sk-ant-api03-0123456789abcdef0123";

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect::<HeaderMap>()
}

fn asked(path: &str, body: &Value) -> Asked {
    Asked::of("POST", path, &HeaderMap::new(), body.to_string().as_bytes()).0
}

#[test]
fn a_key_is_masked_however_an_answer_spells_it() {
    let key = "sk-of-a-recording-0123456789-abcdef";
    let (_, secrets) = Asked::of("POST", "/v1/x", &headers(&[("x-api-key", key)]), b"{}");
    let hex: String = key.bytes().map(|byte| format!("{byte:02X}")).collect();
    let base64 = "QXV0aDogc2stb2YtYS1yZWNvcmRpbmctMDEyMzQ1Njc4OS1hYmNkZWY=";
    let said = format!("{hex} {} {} {base64}", key.to_uppercase(), &key[15..]);
    assert_eq!(secrets.take_out(&said), "[key] [key] [key] QXV0aDog[key]=");
    let mut bytes = said.clone().into_bytes();
    secrets.blank(&mut bytes);
    let stars = |count: usize| "*".repeat(count);
    let expected = format!("{} {} {} QXV0aDog{}=", stars(70), stars(35), stars(20), stars(47));
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn keys_are_nowhere_in_a_recording() {
    let sent = headers(&[("x-api-key", KEY), ("authorization", "Bearer other-secret-key"), ("x-title", "my-app")]);
    let body = json!({
        "messages": [{"content": format!("my key is {KEY}, and AIza0123456789abcdefghijk")}],
        "mcp_servers": [{"authorization_token": "a token of a server"}],
        KEY: true,
        "max_tokens": 5
    });
    let target = "/v1/x?key=query-secret%2B1&alt=sse";
    let (request, secrets) = Asked::of("POST", target, &sent, body.to_string().as_bytes());
    let got = headers(&[("content-type", "text/plain"), ("set-cookie", "session=1"), ("x-echo", KEY)]);
    // A chunk ends in the middle of a key.
    let said = format!("you sent {KEY} and a token of a server and query-secret+1");
    let (one, other) = said.as_bytes().split_at(20);
    let chunks = [Bytes::copy_from_slice(one), Bytes::copy_from_slice(other)];
    let response = Answered::of(200, &got, &chunks, &secrets);
    let exchange = Exchange { request, response };
    let stars = |text: &str| "*".repeat(text.len());
    assert_eq!(
        serde_json::to_value(&exchange).unwrap(),
        json!({
            "request": {
                "method": "POST",
                "path": "/v1/x?key=[key]&alt=sse",
                "headers": {"authorization": "[key]", "x-api-key": "[key]", "x-title": "my-app"},
                "body": {"json": {
                    "messages": [{"content": "my key is [key], and [key]"}],
                    "mcp_servers": [{"authorization_token": "[key]"}],
                    "[key]": true,
                    "max_tokens": 5
                }}
            },
            "response": {
                "status": 200,
                "headers": {"content-type": "text/plain", "x-echo": "[key]"},
                "body": {"chunks": [
                    {"lines": [format!("you sent {}", stars(&KEY[..11]))]},
                    {"lines": [format!("{} and {} and {}", stars(&KEY[11..]), stars("a token of a server"), stars("query-secret+1"))]}
                ]}
            }
        })
    );
}

#[test]
fn answers_keep_their_bytes_and_their_pieces() {
    let sparkles = "a ✨ b\nc".as_bytes();
    let chunks = [
        Bytes::from_static(b"data: 1\n\nda"),
        Bytes::copy_from_slice(&sparkles[..3]),
        Bytes::copy_from_slice(&sparkles[3..]),
    ];
    let answered = Answered::of(200, &HeaderMap::new(), &chunks, &Secrets::default());
    let Pieces::Chunks(pieces) = &answered.body else { panic!("{answered:?}") };
    let text = serde_json::to_string(&answered).unwrap();
    assert_eq!(serde_json::from_str::<Answered>(&text).unwrap(), answered);
    assert_eq!(pieces.iter().map(|piece| piece.bytes().unwrap()).collect::<Vec<_>>(), chunks);
}

#[test]
fn names_of_files_are_letters_digits_and_nothing_that_leads_elsewhere() {
    for (path, expected) in [
        (
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            "0007-v1beta-models-gemini-2-5-pro-streamgeneratecontent-",
        ),
        (
            "/v1beta/models/..%2F..%2Fetc%2Fpasswd:generateContent",
            "0007-v1beta-models-2f-2fetc-2fpasswd-generatecontent-",
        ),
        ("/../../etc/passwd\0\n", "0007-etc-passwd-"),
    ] {
        let name = name(7, &asked(path, &json!({})));
        assert!(name.starts_with(expected) && name.ends_with(".json"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.'), "{name}");
    }
    assert!(name(1, &asked(&"/x".repeat(10_000), &json!({}))).len() < 100);
}

#[test]
fn requests_are_the_same_whatever_the_order_of_their_keys_and_apart_from_ids_and_dates() {
    let one = asked("/v1/x?b=2&a=1", &json!({"model": "m", "input": [{"type": "t", "text": "x"}]}));
    let other = asked("/v1/x?a=1&b=2", &json!({"input": [{"text": "x", "type": "t"}], "model": "m"}));
    assert_eq!(Canonical::of(&one), Canonical::of(&other));
    let dated = |id: &str, date: &str| asked("/v1/x", &json!({"id": id, "text": format!("Today is {date}. Hello")}));
    let first = dated("call_0aB3kq9Xz1", "2026-11-16T10:53:53.123Z");
    for (id, date) in [("call_9zZ1kq9Xz7", "2026-11-17 08:00"), ("toolu_01ABCDEFG", "2027-01-01T00:00:00+02:00")] {
        let second = dated(id, date);
        assert_ne!(Canonical::of(&first), Canonical::of(&second));
        assert_eq!(Canonical::of(&first).without_ids(), Canonical::of(&second).without_ids());
    }
    let uuid = |id: &str| {
        Canonical::of(&asked("/v1/x", &json!({"user": format!("u_{id}"), "s": id}))).without_ids().body["s"].clone()
    };
    assert_eq!(uuid("123e4567-e89b-42d3-a456-426614174000"), uuid("00000000-e89b-42d3-a456-426614174999"));
    // What only resembles one stays unchanged.
    for text in
        ["call me", "2026-11-16-draft", "run_fast", "msg_hello_world", "deadbeef", "gpt-4o-2024-08-06", "1234-56-789"]
    {
        let body = Canonical::of(&asked("/v1/x", &json!({"t": text}))).without_ids().body;
        assert_eq!(body["t"], json!(text));
    }
}

#[test]
fn a_difference_names_the_place_and_both_values() {
    let canonical = |body: &Value| Canonical::of(&asked("/v1/x", body));
    let recorded = canonical(&json!({"messages": [{"content": "Hello"}], "model": "m", "stop": ["x"]}));
    let here = canonical(&json!({"messages": [{"content": "Hello"}, {"content": "Hi"}], "model": "n"}));
    let (weight, told) = difference(&recorded, &here);
    assert_eq!(
        (weight, told.as_str()),
        (
            3,
            "body.messages[1] is {\"content\":\"Hi\"}, recorded was absent; body.model is \"n\", recorded was \"m\"; \
             body.stop is absent, recorded was [\"x\"]"
        )
    );
    let long = |end: &str| canonical(&json!({"t": format!("{}{end}", "same ".repeat(50))}));
    let (_, told) = difference(&long("one"), &long("two"));
    assert_eq!(told, "body.t is …same same two\", recorded was …same same one\"");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone_and_whole() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::env::temp_dir().join(format!("ikigai-exchange-{}", uuid::Uuid::new_v4()));
    make(&folder).unwrap();
    let answered = Answered::of(200, &HeaderMap::new(), &[], &Secrets::default());
    let exchange = Exchange { request: asked("/v1/x", &json!({"a": 1})), response: answered };
    let path = write(&folder, 3, &exchange).unwrap();
    std::fs::write(folder.join("0009-half.unfinished"), "{").unwrap();
    std::fs::write(folder.join("README.md"), "").unwrap();
    assert_eq!(files(&folder).unwrap(), [(3, path.clone())]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    // A link placed under the file's temporary name is not followed.
    let elsewhere = folder.join("elsewhere");
    std::fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, path.with_extension("unfinished")).unwrap();
    assert_eq!(write(&folder, 3, &exchange).unwrap(), path);
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert_eq!(serde_json::from_slice::<Exchange>(&std::fs::read(&path).unwrap()).unwrap(), exchange);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn only_files_of_some_size_are_recordings() {
    let folder = std::env::temp_dir().join(format!("ikigai-exchange-{}", uuid::Uuid::new_v4()));
    make(&folder).unwrap();
    let place = |name: &str| folder.join(name);
    std::os::unix::fs::symlink("/dev/zero", place("1-device.json")).unwrap();
    std::fs::create_dir(place("2-folder.json")).unwrap();
    std::fs::File::create(place("3-giant.json")).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    std::fs::write(place("4-values.json"), format!("[{}1]", "1,".repeat(MOST_VALUES))).unwrap();
    std::fs::write(place("5-binary.json"), b"\xff\x00").unwrap();
    std::fs::write(place(&format!("{}-last.json", usize::MAX)), "{}").unwrap();
    let found: Vec<_> =
        files(&folder).unwrap().iter().map(|(number, path)| (*number, read(path).unwrap_err())).collect();
    let expected = [
        (1, "it is not a file"),
        (2, "it is not a file"),
        (3, "it is larger than 256 MB"),
        (4, "it has more than 3000000 JSON values"),
        (5, "expected value at line 1 column 1"),
    ];
    assert_eq!(found, expected.map(|(number, why)| (number, why.to_owned())));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_answer_of_very_many_lines_is_not_written_line_by_line() {
    let lines = |count: usize| {
        let chunks = [Bytes::from("\n".repeat(count)), Bytes::from_static(b"a\nb")];
        let answered = Answered::of(200, &HeaderMap::new(), &chunks, &Secrets::default());
        let Pieces::Chunks(pieces) = answered.body else { panic!("{count}") };
        let all: Vec<Bytes> = pieces.iter().map(|piece| piece.bytes().unwrap()).collect();
        assert_eq!(all, chunks);
        pieces.iter().map(|piece| if let Piece::Lines(lines) = piece { lines.len() } else { 0 }).collect::<Vec<_>>()
    };
    assert_eq!((lines(10), lines(MOST_LINES)), (vec![10, 2], vec![1, 1]));
}

/// A form as a client sends it, with a boundary of its own.
fn form(boundary: &str) -> Asked {
    let kind = format!("multipart/form-data; boundary={boundary}");
    let part = |head: &str, content: &[u8]| {
        [format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(), content, b"\r\n"]
            .concat()
    };
    let body = [
        part("name=\"api_key\"", b"a-key-in-a-form"),
        part("name=\"file\"; filename=\"a.wav\"", b"RIFF\xff\xfe a-key-in-a-form"),
        format!("--{boundary}--\r\n").into_bytes(),
    ];
    Asked::of("POST", "/v1/audio/transcriptions", &headers(&[("content-type", &kind)]), &body.concat()).0
}

#[test]
fn a_form_is_the_same_with_another_boundary_and_shows_no_key() {
    let one = form("d0b3f1c29a6e4f58");
    assert_eq!(one, form("----formdata-undici-048372651023"));
    assert_eq!(one.headers["content-type"], "multipart/form-data; boundary=boundary");
    let Content::Base64(body) = &one.body else { panic!("{one:?}") };
    let body = STANDARD.decode(body).unwrap();
    assert!(!body.windows(8).any(|part| part == b"a-key-in"), "{:?}", String::from_utf8_lossy(&body));
}

#[test]
fn keys_in_odd_places_are_masked() {
    let body = json!({
        "tools": [
            {"type": "mcp", "headers": {"X-Team-Token": "a-token-of-a-team", "X-Team": "the blue team"}},
            {"parameters": {"properties": {"password": {"type": "string", "description": "The password to use"}}}}
        ],
        "api_key": ["a-first-key", "a-second-key"],
        "input": "a-token-of-a-team and a-second-key"
    });
    let (request, secrets) = Asked::of("POST", "/v1/x", &HeaderMap::new(), body.to_string().as_bytes());
    let expected = json!({
        "tools": [
            {"type": "mcp", "headers": {"X-Team-Token": "[key]", "X-Team": "the blue team"}},
            {"parameters": {"properties": {"password": {"type": "string", "description": "The password to use"}}}}
        ],
        "api_key": ["[key]", "[key]"],
        "input": "[key] and [key]"
    });
    assert_eq!(request.body, Content::Json(expected));
    let sent = headers(&[("content-type", "application/x-www-form-urlencoded")]);
    let form = b"grant_type=refresh&client_secret=a%2Bsecret%2Bword&assertion=eyJhbGciOi";
    let (request, _) = Asked::of("POST", "/token", &sent, form);
    assert_eq!(request.body, Content::Text("grant_type=refresh&client_secret=[key]&assertion=[key]".to_owned()));
    let said = Bytes::from_static(br#"{"access_token":"ya29.a-new-token","expires_in":3599}"#);
    let answered = Answered::of(200, &HeaderMap::new(), &[said], &secrets);
    let Pieces::Chunks(pieces) = answered.body else { panic!("it has no length") };
    assert_eq!(pieces[0].bytes().unwrap(), r#"{"access_token":"****************","expires_in":3599}"#);
}
