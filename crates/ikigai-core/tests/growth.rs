//! Work grows no faster than its input: for anything that can be numerous, twice as many take about twice the time.
//!
//! Times are the thread's processor time, the minimum of several runs, at n, 2n and 4n. A doubling may cost at most 2.5
//! times as much; quadratic work costs four times as much.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic as tests may")]

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use cpu_time::ThreadTime;
use ikigai_core::catalog::rules_for;
use ikigai_core::provider::Quirks;
use ikigai_core::server::{Delivery, Envelope, Watch};
use ikigai_core::wire::{Ids, Incoming, Reply, StreamDecoder, StreamEncoder, Target, TranscribeRequest, WireRequest};
use ikigai_core::{Block, Dialect, Event, FinishReason, Limits, Message, ProviderData, Request, Response, Role, Tool};
use serde_json::{Map, Value, json};

/// The system's allocator returns the memory of a large input after every run, so each of its pages is cleared again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The maximum cost of a doubling.
const MOST: f64 = 2.5;
/// Below this, a measurement shows only the clock and the caches.
const LEAST: Duration = Duration::from_millis(2);
/// The number of anything that is considered few if it takes less than the minimum time.
const LARGEST: usize = 2048;
/// How often a suspicious measurement is repeated: other programs disturb single runs; a law shows in all of them.
const TRIES: usize = 8;

/// Measures `work` on what `make` returns for n, 2n and 4n, where n is at least `n` and large enough to be measured.
fn grows_linearly<T>(name: &str, n: usize, make: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let time = |n: usize| {
        let input = make(n);
        let runs = (0..3).map(|_| {
            let begin = ThreadTime::now();
            work(&input);
            begin.elapsed()
        });
        runs.min().unwrap()
    };
    let mut n = n;
    while time(n) < LEAST {
        if n > LARGEST {
            return;
        }
        n *= 2;
    }
    // Disturbances only make a run longer, so the shortest of all runs is the true one.
    let mut shortest = [Duration::MAX; 3];
    for _ in 0..TRIES {
        for (shortest, n) in shortest.iter_mut().zip([n, 2 * n, 4 * n]) {
            *shortest = time(n).min(*shortest);
        }
        let [one, two, four] = shortest.map(|time| time.as_secs_f64());
        if (two / one).max(four / two) <= MOST {
            return;
        }
    }
    panic!("{name}: at {n}, {} and {}: {shortest:?}", 2 * n, 4 * n);
}

/// Returns limits that are high enough for everything made here: they are not what is measured.
fn limits() -> Limits {
    let mut limits = Limits::client();
    limits.open_blocks = usize::MAX;
    limits.schema_nodes = usize::MAX;
    limits
}

fn model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "claude-sonnet-4-5",
        Dialect::OpenaiChat => "gpt-4.1",
        Dialect::OpenaiResponses => "gpt-5.4",
        // Old enough for its schemas to be rewritten.
        Dialect::Gemini => "gemini-2.0-flash",
        Dialect::BedrockConverse => "amazon.nova-pro-v1:0",
        _ => panic!("a model of {dialect} is missing here"),
    }
}

fn encode(request: &Request, to: Dialect) -> WireRequest {
    let mut request = request.clone();
    request.model = model(to).to_owned();
    let quirks = Quirks::default();
    let target = Target::new("somebody", &quirks, rules_for(&request.model));
    to.encode_request(&request, &target, &limits()).unwrap()
}

/// Measures each way that a request can take: to a dialect, and from there to all of them.
fn requests_grow_linearly(name: &str, n: usize, make: impl Fn(usize) -> Request) {
    for from in Dialect::ALL {
        grows_linearly(&format!("{name}: encoding to {from}"), n, &make, |request| drop(encode(request, from)));
        let wire = |n| encode(&make(n), from);
        let decode = |wire: &WireRequest| {
            let incoming = Incoming::new(&wire.body).at(&wire.path);
            from.decode_request(incoming, &limits()).unwrap().0
        };
        grows_linearly(&format!("{name}: decoding from {from}"), n, wire, |wire| drop(decode(wire)));
        for to in Dialect::ALL {
            let read = |n| decode(&wire(n));
            grows_linearly(&format!("{name}: from {from} to {to}"), n, read, |request| drop(encode(request, to)));
        }
    }
    grows_linearly(&format!("{name}: checking"), n, &make, |request| drop(request.validate()));
    let json = |n| serde_json::to_string(&make(n)).unwrap();
    grows_linearly(&format!("{name}: the format's own JSON"), n, json, |json| {
        serde_json::from_str::<Request>(json).unwrap();
    });
}

fn stream(events: &[Event], to: Dialect) -> Vec<u8> {
    let mut reply = Reply::default();
    reply.stream_usage = true;
    let mut encoder = StreamEncoder::new(to, reply);
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    out
}

fn decode_stream(bytes: &[u8], from: Dialect) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(from, Ids::default(), &limits());
    let mut events = Vec::new();
    // Split as they arrive from a socket.
    bytes.chunks(4096).for_each(|piece| decoder.feed(piece, &mut events));
    decoder.end(&mut events);
    events
}

fn streams_grow_linearly(name: &str, n: usize, make: impl Fn(usize) -> Vec<Event>) {
    for dialect in Dialect::ALL {
        grows_linearly(&format!("{name}: a {dialect} stream, written"), n, &make, |events| {
            stream(events, dialect);
        });
        let bytes = |n| stream(&make(n), dialect);
        bytes_grow_linearly(name, n, dialect, bytes);
    }
    grows_linearly(&format!("{name}: collected"), n, &make, |events| {
        let mut collector = ikigai_core::Collector::default();
        collector.extend(events.iter().cloned());
        collector.finish();
    });
}

fn bytes_grow_linearly(name: &str, n: usize, dialect: Dialect, make: impl Fn(usize) -> Vec<u8>) {
    grows_linearly(&format!("{name}: a {dialect} stream, read"), n, &make, |bytes| {
        decode_stream(bytes, dialect);
    });
    grows_linearly(&format!("{name}: a {dialect} stream, watched"), n, &make, |bytes| {
        let mut watch = Watch::new(dialect, Delivery::Stream);
        bytes.chunks(4096).for_each(|piece| watch.feed(piece));
        watch.finish();
    });
}

/// Measures a complete answer, and the same answer as a stream.
fn answers_grow_linearly(name: &str, n: usize, make: impl Fn(usize) -> Response) {
    for dialect in Dialect::ALL {
        grows_linearly(&format!("{name}: encoding to {dialect}"), n, &make, |response| {
            dialect.encode_response(response, &Reply::default());
        });
        let body = |n| dialect.encode_response(&make(n), &Reply::default()).body;
        grows_linearly(&format!("{name}: decoding from {dialect}"), n, body, |body| {
            dialect.decode_response(body, &mut Ids::default(), &limits()).unwrap();
        });
    }
    streams_grow_linearly(name, n, |n| ikigai_core::events(&make(n)));
}

fn arguments(number: usize) -> Map<String, Value> {
    json!({"path": format!("/etc/{number}"), "deep": {"list": [1, 2, 3]}}).as_object().unwrap().clone()
}

fn call(number: usize) -> Block {
    Block::tool_call(format!("call_{number}"), "read_file", arguments(number))
}

fn answer(content: Vec<Block>) -> Response {
    let calls = content.iter().any(|block| block.as_tool_call().is_some());
    let finish_reason = if calls { FinishReason::ToolUse } else { FinishReason::Stop };
    let mut response = Response::new(content, finish_reason);
    (response.model, response.id) = ("m".to_owned(), Some("a".to_owned()));
    response
}

#[test]
fn calls() {
    answers_grow_linearly("calls", 50, |n| answer((0..n).map(call).collect()));
}

#[test]
fn blocks() {
    answers_grow_linearly("blocks", 50, |n| {
        let block = |number: usize| match number % 2 {
            0 => Block::thinking(format!("thought {number}")),
            _ => Block::text(format!("word {number}")),
        };
        answer((0..n).map(block).collect())
    });
}

#[test]
fn results() {
    requests_grow_linearly("results", 30, |n| {
        let request = Request::new("m").user("Go").assistant((0..n).map(call).collect::<Vec<_>>());
        (0..n).fold(request, |request, number| request.tool_result(format!("call_{number}"), "127.0.0.1 localhost"))
    });
}

#[test]
fn results_in_one_message() {
    requests_grow_linearly("results in one message", 30, |n| {
        let results = (0..n).map(|number| Block::tool_result(format!("call_{number}"), "127.0.0.1 localhost"));
        let results = Message::new(Role::Tool, results.collect::<Vec<_>>());
        Request::new("m").user("Go").assistant((0..n).map(call).collect::<Vec<_>>()).message(results)
    });
}

#[test]
fn histories() {
    requests_grow_linearly("histories", 30, |n| {
        (0..n).fold(Request::new("m").system("Be brief."), |request, number| {
            let call = call(number);
            let request = request.user(format!("Question {number}")).assistant(vec![
                Block::thinking("hm"),
                Block::text("Let me look."),
                call,
            ]);
            request.tool_result(format!("call_{number}"), "nothing").assistant(format!("Answer {number}"))
        })
    });
}

#[test]
fn system_messages_among_others() {
    requests_grow_linearly("system messages", 30, |n| {
        (0..n).fold(Request::new("m"), |request, number| {
            request.user(format!("Question {number}")).assistant("Well.").message(Message::system("Be brief."))
        })
    });
}

#[test]
fn tools() {
    requests_grow_linearly("tools", 20, |n| {
        (0..n).fold(Request::new("m").user("Go"), |request, number| {
            let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
            // A name that no API accepts unchanged.
            request.tool(Tool::new(format!("fs.read:{number}"), "Reads").parameters(schema))
        })
    });
}

#[test]
fn wide_schemas() {
    requests_grow_linearly("wide schemas", 20, |n| {
        let properties = |number: usize| {
            let value = json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "description": "d"});
            (format!("p{number}"), value)
        };
        let properties: Map<String, Value> = (0..n).map(properties).collect();
        let schema = json!({"type": "object", "properties": properties});
        Request::new("m").user("Go").tool(Tool::new("f", "F").parameters(schema.clone())).json_schema("out", schema)
    });
}

#[test]
fn schemas_with_many_references() {
    requests_grow_linearly("references", 20, |n| {
        let definition = |number: usize| {
            let next = json!({"type": "object", "properties": {"x": {"type": "string"}}});
            (format!("d{number}"), next)
        };
        let definitions: Map<String, Value> = (0..n).map(definition).collect();
        let properties: Map<String, Value> =
            (0..n).map(|number| (format!("p{number}"), json!({"$ref": format!("#/$defs/d{number}")}))).collect();
        let schema = json!({"type": "object", "properties": properties, "$defs": definitions});
        Request::new("m").user("Go").tool(Tool::new("f", "F").parameters(schema))
    });
}

#[test]
fn long_texts_and_arguments() {
    requests_grow_linearly("long texts", 2_000, |n| {
        let mut call = Map::new();
        call.insert("text".to_owned(), Value::from("\"quoted\" é\n".repeat(n)));
        let call = Block::tool_call("call_1", "write", call);
        Request::new("m").user("a \"b\" é\n".repeat(n)).assistant(vec![call]).tool_result("call_1", "c\n".repeat(n))
    });
}

#[test]
fn open_arguments() {
    // Many calls that are open at the same time and grow in turn.
    streams_grow_linearly("open arguments", 20, |n| {
        let data = ProviderData::default;
        let start = |index| Event::ToolCallStart {
            index,
            id: format!("call_{index}"),
            name: "f".to_owned(),
            provider_data: data(),
        };
        let mut events =
            vec![Event::Start { id: Some("a".to_owned()), model: Some("m".to_owned()), provider_data: data() }];
        events.extend((0..n).map(start));
        for piece in ["{\"te", "xt\": \"a", " b c\"", "}"] {
            events.extend((0..n).map(|index| Event::ToolCallDelta { index, arguments: piece.to_owned() }));
        }
        events.extend((0..n).map(|index| Event::ToolCallDone {
            index,
            arguments: ikigai_core::Arguments::from_text("{\"text\": \"a b c\"}"),
            provider_data: data(),
        }));
        events.push(Event::Done { finish_reason: FinishReason::ToolUse, provider_data: data() });
        events
    });
}

#[test]
fn one_open_call_beside_many() {
    // The cost of a new call does not depend on how much is open.
    let frame = |delta: Value| {
        format!("data: {}\n\n", json!({"id": "a", "model": "m", "choices": [{"index": 0, "delta": delta}]}))
    };
    bytes_grow_linearly("one open call", 50, Dialect::OpenaiChat, |n| {
        let start = |index: usize, arguments: &str| {
            let function = json!({"name": "f", "arguments": arguments});
            frame(
                json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "type": "function", "function": function}]}),
            )
        };
        let mut text = start(0, &format!("{{\"x\": \"{}", "y".repeat(20 * n)));
        for index in 1..n {
            text += &start(index, "{}");
            text += &frame(json!({"tool_calls": [{"index": 0, "function": {"arguments": "z"}}]}));
        }
        text.into_bytes()
    });
}

#[test]
fn unknown_events() {
    for dialect in Dialect::ALL {
        let begin = String::from_utf8(stream(&ikigai_core::events(&answer(vec![Block::text("Hi")])), dialect)).unwrap();
        bytes_grow_linearly("unknown events", 100, dialect, |n| {
            let frame = |number: usize| format!("data: {}\n\n", json!({"type": "brand.new", "number": number}));
            ((0..n).map(frame).collect::<String>() + &begin).into_bytes()
        });
        bytes_grow_linearly("unknown fields", 10, dialect, |n| {
            let fields: Map<String, Value> = (0..n).map(|number| (format!("new_{number}"), json!(number))).collect();
            let mut fields = Value::Object(fields);
            fields["type"] = json!("brand.new");
            format!("data: {fields}\n\n{begin}").into_bytes()
        });
    }
}

#[test]
fn unknown_fields_of_requests() {
    for dialect in Dialect::ALL {
        let wire = encode(&Request::new("m").user("Hi"), dialect);
        let make = |n: usize| {
            let mut body: Map<String, Value> = serde_json::from_slice(&wire.body).unwrap();
            body.extend((0..n).map(|number| (format!("new_{number}"), json!({"a": number}))));
            serde_json::to_vec(&body).unwrap()
        };
        let decode = |body: &[u8]| {
            let incoming = Incoming::new(body).at(&wire.path);
            dialect.decode_request(incoming, &limits()).unwrap().0
        };
        grows_linearly(&format!("unknown fields: decoding from {dialect}"), 50, make, |body| drop(decode(body)));
        for to in Dialect::ALL {
            let name = format!("unknown fields: from {dialect} to {to}");
            grows_linearly(&name, 50, |n| decode(&make(n)), |request| drop(encode(request, to)));
        }
        grows_linearly("unknown fields: the envelope", 50, make, |body| {
            // Refused if there are too many of them.
            drop(Envelope::read(body).map(|envelope| envelope.clashes().len()));
        });
    }
}

/// A file full of potential boundaries of the form in which it is sent.
#[test]
fn forms() {
    let make = |n: usize| {
        let sound: String = (0..100 * n).map(|number| format!("ikigai-boundary-{number:016x}")).collect();
        TranscribeRequest::new(sound, "audio/wav")
    };
    grows_linearly("forms", 16, make, |request| {
        Dialect::OpenaiChat.transcribe_request("whisper-1", request).unwrap().unwrap();
    });
}

/// A client may forge a seal, and put anything into it.
#[test]
fn forged_seals() {
    let fields = |n: usize| (0..n).map(|number| format!("\"a{number}\":1,")).collect::<String>();
    let dialects = |n: usize| (0..n).map(|number| format!("\"a{number}\":{{\"b\":1}},")).collect::<String>();
    let sealed = |record: &str| format!("ikg1.{}", URL_SAFE_NO_PAD.encode(record));
    for (what, record) in [
        ("fields", &(|n| format!(r#"{{"d":{{"gemini":{{{}"id":1}}}}}}"#, fields(n))) as &dyn Fn(usize) -> String),
        ("extra fields", &|n| format!(r#"{{"d":{{"gemini":{{"extra":{{}},{}"id":1}}}}}}"#, fields(n))),
        ("dialects", &|n| format!(r#"{{"d":{{{}"gemini":{{"id":1}}}}}}"#, dialects(n))),
        ("notes", &|n| format!(r#"{{"d":{{"gemini":{{"id":1}}}},"n":{{{}"of":"thinking"}}}}"#, fields(n))),
    ] {
        for dialect in Dialect::ALL {
            let request = |n: usize| {
                let seal = sealed(&record(n));
                match dialect {
                    Dialect::Anthropic => json!({"model": "m", "max_tokens": 9, "messages": [{"role": "assistant",
                        "content": [{"type": "thinking", "thinking": "hm", "signature": seal}]}]}),
                    Dialect::OpenaiChat => json!({"model": "m", "messages": [{"role": "assistant", "content": "hm",
                        "reasoning_details": [{"type": "reasoning.encrypted", "data": seal, "index": 0}]}]}),
                    Dialect::OpenaiResponses => json!({"model": "m",
                        "input": [{"type": "reasoning", "encrypted_content": seal, "summary": []}]}),
                    Dialect::Gemini => json!({"contents": [{"role": "model",
                        "parts": [{"text": "hm", "thoughtSignature": STANDARD.encode(seal)}]}]}),
                    _ => panic!("a seal of {dialect} is missing here"),
                }
            };
            let path = "/v1beta/models/m:generateContent";
            grows_linearly(
                &format!("{what} of a seal: {dialect}"),
                4_000,
                |n| request(n).to_string(),
                |body| {
                    dialect.decode_request(Incoming::new(body.as_bytes()).at(path), &limits()).unwrap();
                },
            );
        }
    }
}

#[test]
fn fields_of_provider_data() {
    let fields = |n: usize| (0..n).map(|number| format!("\"a{number}\":1,")).collect::<String>();
    let repeated = |n: usize| (0..n).map(|number| format!("\"extra\":{{\"b{number}\":1}},")).collect::<String>();
    for (what, data) in [
        ("fields", &(|n| format!(r#"{{"gemini":{{{}"id":1}}}}"#, fields(n))) as &dyn Fn(usize) -> String),
        ("objects of fields", &|n| format!(r#"{{"gemini":{{{}"id":1}}}}"#, repeated(n))),
    ] {
        grows_linearly(&format!("provider data: {what}"), 4_000, data, |json| {
            serde_json::from_str::<ProviderData>(json).unwrap();
        });
        let read = |n: usize| serde_json::from_str::<ProviderData>(&data(n)).unwrap();
        grows_linearly(&format!("provider data, merged: {what}"), 4_000, read, |data| {
            let mut twice = data.clone();
            twice.merge(data.clone());
        });
    }
}
