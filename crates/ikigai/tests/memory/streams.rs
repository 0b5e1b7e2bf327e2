//! Streams of very many small things that have to be kept, in every dialect.

use super::{CHAT, CLAUDE, CONVERSE, GEMINI, Hostile, Made, RESPONSES, client, limits, made, read_stream, share};

/// The contents of a stream: its name, its beginning, and the JSON of the frames that are repeated. Each `#####` is
/// replaced by another number. A frame that begins with `:` is a comment.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const ANTHROPIC_START: &str =
    r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"model":"m"}}"#;
const ANTHROPIC_TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;

const ANTHROPIC: &[Row] = &[
    ("keep-alives", &[ANTHROPIC_START], &[r#"{"type":"ping"}"#, ": keep-alive"]),
    ("unknown events", &[ANTHROPIC_START], &[r#"{"type":"x","index":0,"a":1}"#]),
    ("fields of the end", &[ANTHROPIC_START], &[r#"{"type":"message_delta","x#####":1,"delta":{"y#####":1}}"#]),
    ("long fields of the end", &[ANTHROPIC_START], &[r#"{"type":"message_delta","x#####":"LONG"}"#]),
    ("counts", &[ANTHROPIC_START], &[r#"{"type":"message_delta","delta":{},"usage":{"x#####":1,"output_tokens":1}}"#]),
    (
        "long counts that are told again",
        &[ANTHROPIC_START, r#"{"type":"message_delta","delta":{},"usage":{"x":"LONG"}}"#],
        &[r#"{"type":"message_delta","usage":{"output_tokens":#####}}"#],
    ),
    (
        "blocks with fields",
        &[ANTHROPIC_START],
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","x":1,"y#####":1,"z":{}}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "blocks that stay open",
        &[ANTHROPIC_START],
        &[r#"{"type":"content_block_start","index":#####,"content_block":{"type":"text","text":""}}"#],
    ),
    (
        "calls",
        &[ANTHROPIC_START],
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i#####","name":"t","input":{},"x":1}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "empty deltas",
        &[ANTHROPIC_START, ANTHROPIC_TEXT],
        &[r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#],
    ),
    (
        "texts",
        &[ANTHROPIC_START, ANTHROPIC_TEXT],
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}}"#,
        ],
    ),
    (
        "citations",
        &[ANTHROPIC_START, ANTHROPIC_TEXT],
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.b/#####","title":"t","cited_text":"c","x":1}}}"#,
        ],
    ),
    (
        "pieces of a call that the provider runs",
        &[
            ANTHROPIC_START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
        ],
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#,
        ],
    ),
    (
        "sources",
        &[ANTHROPIC_START],
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"https://a.b/#####","title":"t"},{"type":"web_search_result","url":"https://a.b/#####"}]}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "signatures",
        &[ANTHROPIC_START],
        &[
            r#"{"type":"content_block_start","index":#####,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"LONG"}}"#,
        ],
    ),
];

const CHAT_ROWS: &[Row] = &[
    ("keep-alives", &[], &["{}", ": keep-alive", r#"{"choices":[]}"#]),
    (
        "log probabilities",
        &[],
        &[
            r#"{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.12345678,"bytes":[97],"top_logprobs":[]}]}}]}"#,
        ],
    ),
    ("fields of a chunk", &[], &[r#"{"choices":[{"delta":{"content":"a"}}],"x#####":1,"y#####":2,"z#####":3}"#]),
    ("fields of a choice", &[], &[r#"{"choices":[{"delta":{"content":"a"},"x":{"a#####":1,"b#####":[]}}]}"#]),
    ("choices", &[], &[r#"{"choices":[{"index":#####,"delta":{"content":"a"}}]}"#]),
    ("counts", &[], &[r#"{"choices":[],"usage":{"prompt_tokens":1,"x#####":1}}"#]),
    (
        "calls",
        &[],
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":#####,"id":"c#####","function":{"name":"t","arguments":"{}"},"x":1}]}}]}"#,
        ],
    ),
    ("empty deltas", &[], &[r#"{"choices":[{"delta":{"content":""}}]}"#]),
    ("texts", &[], &[r#"{"choices":[{"delta":{"content":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}}]}"#]),
    (
        "blocks",
        &[],
        &[r#"{"choices":[{"delta":{"content":"a"}}]}"#, r#"{"choices":[{"delta":{"reasoning_content":"a"}}]}"#],
    ),
    (
        "citations",
        &[],
        &[
            r#"{"choices":[{"delta":{"content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.b/#####","title":"t","start_index":0,"end_index":1}}]}}]}"#,
        ],
    ),
    (
        "sources",
        &[],
        &[r#"{"choices":[{"delta":{"content":"a"}}],"search_results":[{"title":"t","url":"https://a.b/#####"}]}"#],
    ),
    (
        "reasoning details",
        &[],
        &[
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"a","id":"r#####","index":#####}]}}]}"#,
        ],
    ),
    ("white space", &[], &[r#"{"choices":[{"delta":{"content":"                                        "}}]}"#]),
    (
        "fields of a call",
        &[],
        &[r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"t"},"x#####":1}]}}]}"#],
    ),
    (
        "calls without a name",
        &[],
        &[r#"{"choices":[{"delta":{"tool_calls":[{"index":#####,"id":"c#####","function":{"arguments":"a"}}]}}]}"#],
    ),
    (
        "pieces of speech",
        &[],
        &[r#"{"choices":[{"delta":{"audio":{"data":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}]}"#],
    ),
];

const RESPONSES_START: &str = r#"{"type":"response.created","response":{"id":"r","model":"m","output":[]}}"#;
const RESPONSES_TEXT: &str = r#"{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}"#;

const RESPONSES_ROWS: &[Row] = &[
    ("keep-alives", &[RESPONSES_START], &[r#"{"type":"keepalive"}"#, ": keep-alive"]),
    ("unknown events", &[RESPONSES_START], &[r#"{"type":"response.x.added","output_index":0,"x":1}"#]),
    (
        "messages with fields",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.added","output_index":#####,"item":{"type":"message","id":"m#####","x":1,"y#####":{}}}"#,
        ],
    ),
    (
        "items",
        &[RESPONSES_START],
        &[r#"{"type":"response.output_item.added","output_index":#####,"item":{"type":"x","id":"m#####","y#####":1}}"#],
    ),
    (
        "items that ended",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.done","output_index":#####,"item":{"type":"message","id":"m#####","content":[]}}"#,
        ],
    ),
    (
        "parts",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.content_part.added","output_index":0,"content_index":#####,"part":{"type":"output_text","text":""}}"#,
        ],
    ),
    (
        "blocks",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"r#####"}}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","summary":[],"encrypted_content":"a","x":1}}"#,
        ],
    ),
    (
        "calls",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.done","output_index":#####,"item":{"type":"function_call","id":"f#####","call_id":"c#####","name":"t","arguments":"{}","x":1}}"#,
        ],
    ),
    (
        "calls without a name",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.added","output_index":#####,"item":{"type":"function_call","id":"f#####"}}"#,
        ],
    ),
    (
        "empty deltas",
        &[RESPONSES_START, RESPONSES_TEXT],
        &[r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":""}"#],
    ),
    (
        "texts",
        &[RESPONSES_START, RESPONSES_TEXT],
        &[
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}"#,
        ],
    ),
    (
        "arguments",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"t","arguments":"{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
        ],
    ),
    (
        "citations",
        &[RESPONSES_START, RESPONSES_TEXT],
        &[
            r#"{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"type":"url_citation","url":"https://a.b/#####","title":"t","start_index":0,"end_index":0}}"#,
        ],
    ),
    (
        "citations of mixed texts",
        &[RESPONSES_START, RESPONSES_TEXT],
        &[
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}"#,
            r#"{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"start_index":0,"end_index":0}}"#,
        ],
    ),
    (
        "sources",
        &[RESPONSES_START],
        &[
            r#"{"type":"response.output_text.annotation.added","output_index":9,"content_index":0,"annotation":{"type":"url_citation","url":"https://a.b/#####"}}"#,
        ],
    ),
];

const GEMINI_ROWS: &[Row] = &[
    ("keep-alives", &[], &["{}", ": keep-alive", r#"{"candidates":[]}"#]),
    ("fields", &[], &[r#"{"x#####":1,"candidates":[{"y#####":1,"content":{"parts":[{"text":"a"}]}}]}"#]),
    ("long fields", &[], &[r#"{"x#####":"LONG","candidates":[{"y#####":"LONG"}],"usageMetadata":{"z#####":"LONG"}}"#]),
    ("candidates", &[], &[r#"{"candidates":[{"index":#####,"content":{"parts":[{"text":"a"}]}}]}"#]),
    ("counts", &[], &[r#"{"usageMetadata":{"promptTokenCount":#####,"x":1}}"#]),
    ("blocks with fields", &[], &[r#"{"candidates":[{"content":{"parts":[{"text":"a","x":1,"y#####":{}}]}}]}"#]),
    ("signatures", &[], &[r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"LONG"}]}}]}"#]),
    ("calls", &[], &[r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"a":1},"x":1}}]}}]}"#]),
    (
        "pieces of a call",
        &[r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","willContinue":true}}]}}]}"#],
        &[
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a#####","numberValue":1},{"jsonPath":"$.b#####.c","numberValue":1}],"willContinue":true}}]}}]}"#,
        ],
    ),
    ("empty deltas", &[], &[r#"{"candidates":[{"content":{"parts":[{"text":""}]}}]}"#]),
    ("texts", &[], &[r#"{"candidates":[{"content":{"parts":[{"text":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}]}}]}"#]),
    (
        "citations",
        &[],
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"citationMetadata":{"citationSources":[{"uri":"https://a.b/#####","startIndex":0,"endIndex":1}]}}]}"#,
        ],
    ),
    (
        "sources",
        &[],
        &[
            r#"{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.b/#####","title":"t"}}],"groundingSupports":[{"segment":{"endIndex":1},"groundingChunkIndices":[0]}]}}]}"#,
        ],
    ),
];

const CONVERSE_START: &str = r#"{"messageStart":{"role":"assistant"}}"#;

const CONVERSE_ROWS: &[Row] = &[
    ("keep-alives", &[CONVERSE_START], &[": keep-alive", r#"{"x":{}}"#]),
    ("fields of the end", &[CONVERSE_START], &[r#"{"metadata":{"x#####":1,"y#####":{}}}"#]),
    ("counts", &[CONVERSE_START], &[r#"{"metadata":{"usage":{"inputTokens":#####,"x":1}}}"#]),
    (
        "blocks",
        &[CONVERSE_START],
        &[
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a"}}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
        ],
    ),
    (
        "blocks that stay open",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":#####,"delta":{"text":"a"}}}"#],
    ),
    (
        "calls",
        &[CONVERSE_START],
        &[
            r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t#####","name":"t","x":1}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
        ],
    ),
    ("empty deltas", &[CONVERSE_START], &[r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":""}}}"#]),
    (
        "texts",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"aéaéaéaéaéaéaéaéaéaéaéaéaéaéaéaé"}}}"#],
    ),
    (
        "citations",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"citation":{"title":"t","x#####":1}}}}"#],
    ),
    (
        "pieces of an unknown block",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"x":{"y#####":1}}}}"#],
    ),
    (
        "results of the provider's tools",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolResult":[{"text":"a#####"}]}}}"#],
    ),
    (
        "redacted thinking",
        &[CONVERSE_START],
        &[
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}"#,
        ],
    ),
    (
        "signatures",
        &[CONVERSE_START],
        &[r#"{"contentBlockDelta":{"contentBlockIndex":#####,"delta":{"reasoningContent":{"signature":"LONG"}}}}"#],
    ),
];

/// A single frame with very many of one thing: what surrounds them, and the thing.
const IN_ONE_FRAME: &[(&str, &str, &str, &str, &str)] = &[
    (
        CLAUDE,
        "blocks",
        r#"{"type":"message_start","message":{"id":"m","content":["#,
        r#"{"type":"text","text":"a"}"#,
        "]}}",
    ),
    (CLAUDE, "unknown fields", r#"{"type":"message_start","message":{"#, r#""x#####":1"#, "}}"),
    (
        CHAT,
        "calls",
        r#"{"choices":[{"delta":{"tool_calls":["#,
        r#"{"index":#####,"id":"a","function":{"name":"t"}}"#,
        "]}}]}",
    ),
    (CHAT, "unknown fields", r#"{"choices":[{"delta":{"content":"a"}}],"#, r#""x#####":1"#, "}"),
    (
        RESPONSES,
        "items",
        r#"{"type":"response.completed","response":{"status":"completed","output":["#,
        r#"{"type":"function_call","call_id":"c","name":"t"}"#,
        "]}}",
    ),
    (
        RESPONSES,
        "unknown items",
        r#"{"type":"response.completed","response":{"status":"completed","output":["#,
        r#"{"type":"x"}"#,
        "]}}",
    ),
    (RESPONSES, "unknown fields", r#"{"type":"response.created","response":{"#, r#""x#####":1"#, "}}"),
    (GEMINI, "calls", r#"{"candidates":[{"content":{"parts":["#, r#"{"functionCall":{"name":"t"}}"#, "]}}]}"),
    (GEMINI, "empty calls", r#"{"candidates":[{"content":{"parts":["#, r#"{"functionCall":{}}"#, "]}}]}"),
    (GEMINI, "unknown parts", r#"{"candidates":[{"content":{"parts":["#, r#"{"x":1}"#, "]}}]}"),
    (GEMINI, "frames", "[", r#"{"candidates":[{"index":1}]}"#, "]"),
    (CONVERSE, "unknown fields", r#"{"messageStart":{"#, r#""x#####":1"#, "}}"),
];

const LONG: usize = 200_000;

/// Builds a stream of many megabytes from these frames.
fn stream_of(beginning: &[&str], frames: &[&str]) -> Made {
    let written = |frames: &[&str]| -> String {
        let long = "a".repeat(LONG);
        let frame = |frame: &&str| match frame.starts_with(':') {
            true => format!("{frame}\n\n"),
            false => format!("data: {}\n\n", frame.replace("LONG", &long)),
        };
        frames.iter().map(frame).collect()
    };
    made(&written(beginning), &written(frames), 40 << 20, "")
}

/// Checks all streams before failing, so that a failure shows all of them.
fn each_stays_within(cases: impl IntoIterator<Item = (String, &'static str, Made)>) {
    let mut beyond = Vec::new();
    for (case, model, body) in cases {
        let client = client(Hostile { status: 200, headers: vec![("content-type", "text/event-stream")], body });
        let ((), share) = share(limits().body, || read_stream(client, model));
        println!("{share:5.2} x the limit: {case}");
        if share >= 4.0 {
            beyond.push(format!("{case}: {share:.2} times the limit"));
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

fn all_kept_stay_within(model: &'static str, rows: &[Row]) {
    let cases = rows.iter().map(|(name, beginning, frames)| (*name, stream_of(beginning, frames)));
    each_stays_within(cases.map(|(name, stream)| (format!("{model}: {name}"), model, stream)));
}

// Separate tests, because each takes a while.

#[test]
fn very_many_small_things_that_messages_keep() {
    all_kept_stay_within(CLAUDE, ANTHROPIC);
}

#[test]
fn very_many_small_things_that_chat_keeps() {
    all_kept_stay_within(CHAT, CHAT_ROWS);
}

#[test]
fn very_many_small_things_that_responses_keep() {
    all_kept_stay_within(RESPONSES, RESPONSES_ROWS);
}

#[test]
fn very_many_small_things_that_gemini_keeps() {
    all_kept_stay_within(GEMINI, GEMINI_ROWS);
}

#[test]
fn very_many_small_things_that_converse_keeps() {
    all_kept_stay_within(CONVERSE, CONVERSE_ROWS);
}

#[test]
fn very_many_small_things_in_one_frame() {
    // As much as one event may contain, about as many values as it may contain, and a fraction of that.
    let sizes = [limits().event - (64 << 10), 600 << 10, 150 << 10];
    each_stays_within(IN_ONE_FRAME.iter().flat_map(|(model, name, beginning, unit, end)| {
        sizes.map(|size| {
            let frame = made(&format!("data: {beginning}"), &format!("{unit},"), size, &format!("{unit}{end}\n\n"));
            (format!("{model}: {name} in a frame of {size} bytes"), *model, frame)
        })
    }));
}
