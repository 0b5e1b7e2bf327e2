//! Nothing is dropped silently: every field of the format, alone in a request, is on the wire of every dialect or in
//! the losses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::catalog::rules_for;
use ikigai_core::thinking::thinking_budget;
use ikigai_core::{
    Block, CacheHint, Dialect, Document, Function, JsonSchemaFormat, Level, Message, Other, OutputFormat, Part,
    Request, Role, Source, Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice, ToolResult,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::support::conversation::is_lost;
use crate::support::findings::Findings;
use crate::support::wire::{OfValues as _, target};

/// A request with one thing in it, and the place of that thing in the request's JSON.
struct Case {
    name: String,
    place: String,
    request: Request,
}

fn asked() -> Request {
    Request::new("some-model").user("Hello")
}

/// Returns a schema that every provider accepts, strict or not.
fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false})
}

fn function() -> Function {
    let mut function = Function::new("read_file", "");
    (function.description, function.parameters, function.strict) = (None, schema().into(), false);
    function
}

fn call() -> ToolCall {
    ToolCall::new("call_1", "read_file", Map::from_iter([("path".into(), json!("/etc/hosts"))]))
}

fn result() -> ToolResult {
    ToolResult::new("call_1", "localhost")
}

fn hint() -> Option<CacheHint> {
    Some(CacheHint::default())
}

/// The other tests would not check a field without a case.
#[test]
fn every_field_of_a_request_has_a_case() {
    let schema = ikigai_core::schema();
    let fields = schema["$defs"]["Request"]["properties"].as_object().unwrap().keys();
    let places: Vec<String> = every_case().map(|case| case.place).collect();
    let has_case = |field: &&String| places.iter().any(|place| place.split(['.', '[']).next() == Some(field));
    assert_eq!(fields.filter(|field| !has_case(field)).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn every_case() -> impl Iterator<Item = Case> {
    [parameters(), tools(), content(), calls(), leftovers()].into_iter().flatten()
}

/// Returns a case for each field of a request.
fn parameters() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, place: &str, set: &dyn Fn(&mut Request)| {
        let mut request = asked();
        set(&mut request);
        cases.push(Case { name: name.to_owned(), place: place.to_owned(), request });
    };
    add("model", "model", &|_| {});
    add("one system block", "system", &|request| request.system = vec![Block::text("Be brief.")]);
    add("max_output_tokens", "max_output_tokens", &|request| request.max_output_tokens = Some(4096));
    add("temperature", "temperature", &|request| request.temperature = Some(0.5));
    add("a temperature above 1", "temperature", &|request| request.temperature = Some(1.5));
    add("top_p", "top_p", &|request| request.top_p = Some(0.5));
    add("top_k", "top_k", &|request| request.top_k = Some(40));
    add("stop", "stop", &|request| request.stop = vec!["END".into(), "###".into()]);
    add("many stops", "stop", &|request| request.stop = (0..9).map(|at| format!("stop {at}")).collect());
    add("seed", "seed", &|request| request.seed = Some(7));
    add("a seed beyond 32 bits", "seed", &|request| request.seed = Some(1 << 40));
    add("frequency_penalty", "frequency_penalty", &|request| request.frequency_penalty = Some(0.5));
    add("presence_penalty", "presence_penalty", &|request| request.presence_penalty = Some(-0.5));
    add("stream", "stream", &|request| request.stream = Some(true));
    add("not stream", "stream", &|request| request.stream = Some(false));
    add("metadata.user_id", "metadata", &|request| {
        request.metadata = Map::from_iter([("user_id".into(), json!("u1"))]);
    });
    add("other metadata", "metadata", &|request| request.metadata = Map::from_iter([("team".into(), json!("blue"))]));
    add("cache.key", "cache.key", &|request| {
        request.cache.get_or_insert_default().key = Some("k1".into());
    });
    add("cache.automatic", "cache.automatic", &|request| {
        request.cache.get_or_insert_default().automatic = hint();
    });
    add("cache.automatic for an hour", "cache.automatic", &|request| {
        request.cache.get_or_insert_default().automatic = Some(CacheHint::ttl("1h"));
    });
    for level in Level::ALL {
        add(&format!("thinking {level}"), "thinking", &|request| request.thinking = Some(Thinking::from(level)));
    }
    add("thinking by budget", "thinking", &|request| request.thinking = Some(Thinking::budget(2048)));
    add("thinking hidden", "thinking", &|request| request.thinking = Some(Thinking::from(Level::Low).hidden()));
    add("output text", "output_format", &|request| request.output_format = Some(OutputFormat::Text));
    add("output json", "output_format", &|request| request.output_format = Some(OutputFormat::Json));
    for strict in [None, Some(true), Some(false)] {
        add(&format!("output json_schema, strict {strict:?}"), "output_format", &|request| {
            let mut format = JsonSchemaFormat::new("place", schema());
            (format.description, format.strict) = (Some("A place.".into()), strict);
            request.output_format = Some(OutputFormat::JsonSchema(format));
        });
    }
    cases
}

fn tools() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, place: &str, set: &dyn Fn(&mut Request, &mut Function)| {
        let mut request = asked();
        let mut function = function();
        set(&mut request, &mut function);
        request.tools.insert(0, Tool::Function(function));
        cases.push(Case { name: name.to_owned(), place: place.to_owned(), request });
    };
    add("a tool", "tools[0]", &|_, _| {});
    add("a described tool", "tools[0]", &|_, function| function.description = Some("Reads a file.".into()));
    add("a strict tool", "tools[0]", &|_, function| function.strict = true);
    add("a strict tool with a schema that is not", "tools[0]", &|_, function| {
        function.strict = true;
        function.parameters = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}).into();
    });
    add("a tool without parameters", "tools[0]", &|_, function| {
        function.parameters = json!({"type": "object", "properties": {}}).into();
    });
    add("a cached tool", "tools[0]", &|_, function| function.cache = hint());
    for (name, choice) in [
        ("auto", ToolChoice::Auto),
        ("none", ToolChoice::None),
        ("required", ToolChoice::Required),
        ("specific", ToolChoice::Specific("read_file".into())),
    ] {
        add(&format!("tool_choice {name}"), "tool_choice", &|request, _| request.tool_choice = Some(choice.clone()));
    }
    for parallel in [true, false] {
        add(&format!("parallel_tool_calls {parallel}"), "parallel_tool_calls", &|request, _| {
            request.parallel_tool_calls = Some(parallel);
        });
    }
    for dialect in Dialect::PROVIDERS {
        add(&format!("a tool of {dialect}"), "tools[1]", &|request, _| {
            request.tools.push(Tool::other(Other::new(dialect, own_tool(dialect))));
        });
    }
    cases
}

/// Returns a provider-run tool as each dialect writes one.
fn own_tool(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Anthropic => json!({"type": "memory_20250818", "name": "memory"}),
        Dialect::OpenaiChat => json!({"type": "custom", "custom": {"name": "patch", "description": "Patches."}}),
        Dialect::OpenaiResponses => json!({"type": "image_generation"}),
        Dialect::Gemini => json!({"googleMaps": {}}),
        Dialect::BedrockConverse => json!({"systemTool": {"name": "nova_grounding"}}),
        _ => panic!("a tool of {dialect} is missing here"),
    }
}

fn sources(media_type: &str) -> Vec<(&'static str, Source)> {
    let media_type = media_type.to_owned();
    vec![
        ("base64", Source::Base64 { media_type: media_type.clone(), data: "iVBORw0KGgo=".into() }),
        ("url", Source::Url { url: "https://example.org/a".into(), media_type: None }),
        ("url with type", Source::Url { url: "https://example.org/a".into(), media_type: Some(media_type.clone()) }),
        ("file", Source::File { id: "file-abc".into(), media_type: None }),
        ("file with type", Source::File { id: "file-abc".into(), media_type: Some(media_type) }),
    ]
}

/// Returns everything that a user may send: each kind of block with each kind of source.
fn said_by_user() -> Vec<(String, Block)> {
    let mut for_an_hour = Text::new("Hi");
    for_an_hour.cache = Some(CacheHint::ttl("1h"));
    let mut blocks = vec![
        ("text".to_owned(), Block::text("Hi")),
        ("text, cached".to_owned(), Block::text("Hi").cached()),
        ("text, cached for an hour".to_owned(), Block::Text(for_an_hour)),
    ];
    for (name, source) in sources("image/png") {
        blocks.push((format!("image by {name}"), Block::image(source)));
    }
    blocks.push(("image, cached".to_owned(), Block::image_url("https://example.org/a.png").cached()));
    for (name, source) in sources("audio/wav") {
        blocks.push((format!("audio by {name}"), Block::audio(source)));
    }
    let text = Source::Text { media_type: "text/plain".into(), text: "Some text.".into() };
    for (name, source) in sources("application/pdf").into_iter().chain([("text", text.clone())]) {
        for title in [None, Some("a.pdf".to_owned())] {
            let named = if title.is_some() { ", named" } else { "" };
            let mut document = Document::new(source.clone());
            document.name = title;
            blocks.push((format!("document by {name}{named}"), Block::Document(document)));
        }
    }
    blocks.push(("document, cached".to_owned(), Block::document(text, "a.txt").cached()));
    for dialect in Dialect::PROVIDERS {
        blocks.push((format!("block of {dialect}"), Block::Other(Other::new(dialect, own_block(dialect)))));
    }
    blocks
}

/// Returns a block with no meaning elsewhere, as each dialect's user may send it.
fn own_block(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Anthropic => json!({"type": "container_upload", "file_id": "file_1"}),
        Dialect::OpenaiChat => json!({"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}),
        Dialect::OpenaiResponses => json!({"type": "input_video", "video_url": "https://example.org/a.mp4"}),
        Dialect::Gemini => json!({"videoMetadata": {"startOffset": "2s"}}),
        Dialect::BedrockConverse => json!({"video": {"format": "mp4", "source": {"bytes": "AAAA"}}}),
        _ => panic!("a block of {dialect} is missing here"),
    }
}

fn content() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, block) in said_by_user() {
        // The text after it keeps the message from being empty if the block cannot be sent.
        let request = Request::new("some-model").message(Message::user([block, Block::text("See above.")]));
        cases.push(Case { name: format!("user {name}"), place: "messages[0].content[0]".into(), request });
    }
    for (name, block) in [
        ("thinking that nobody signed", Block::thinking("Hm.")),
        ("text", Block::text("Hi")),
        ("cached text", Block::text("Hi").cached()),
        ("image", Block::image_url("https://example.org/a.png")),
    ] {
        let request = asked().message(Message::assistant([block, Block::text("So.")])).user("And?");
        cases.push(Case { name: format!("assistant {name}"), place: "messages[1].content[0]".into(), request });
    }
    cases.push(Case {
        name: "instructions in the middle".into(),
        place: "messages[1]".into(),
        request: asked().message(Message::system("Now in French.")).user("And?"),
    });
    cases.push(Case {
        name: "two system blocks, one cached".into(),
        place: "system".into(),
        request: asked().system(Block::text("Be brief.").cached()).system("Be kind."),
    });
    cases
}

fn calls() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, place: &str, call: ToolCall, result: ToolResult| {
        let request = asked()
            .tool(Tool::Function(function()))
            .message(Message::assistant(Block::ToolCall(call)))
            .message(Message::new(Role::Tool, Block::ToolResult(result)));
        cases.push(Case { name: name.to_owned(), place: place.to_owned(), request });
    };
    let (at_call, at_result) = ("messages[1].content[0]", "messages[2].content[0]");
    add("call", at_call, call(), result());
    let mut spaced = call();
    spaced.arguments = ikigai_core::Arguments::from_text("{ \"path\" : \"/etc/hosts\" }");
    add("call with spaces in its arguments", at_call, spaced, result());
    let mut cached = call();
    cached.cache = hint();
    add("cached call", at_call, cached, result());
    let mut add = |name: &str, result: ToolResult| add(name, at_result, call(), result);
    add("result", result());
    let mut failed = result();
    failed.is_error = true;
    add("failed result", failed);
    let mut cached = result();
    cached.cache = hint();
    add("cached result", cached);
    let gives = |content: Vec<Block>| ToolResult::new("call_1", content);
    add("empty result", gives(vec![]));
    add("result of two texts", gives(vec![Block::text("one"), Block::text("two")]));
    add("result of JSON", gives(vec![Block::text(r#"{"b": 1, "a": [2]}"#)]));
    for (name, source) in sources("image/png") {
        add(&format!("result with an image by {name}"), gives(vec![Block::text("See:"), Block::image(source)]));
    }
    let document = Block::document(sources("application/pdf").remove(0).1, "a.pdf");
    add("result with a document", gives(vec![document]));
    cases
}

/// Data that one dialect left in a request does not concern another, but must not vanish silently.
fn leftovers() -> Vec<Case> {
    let mut cases = Vec::new();
    for dialect in Dialect::PROVIDERS {
        let mut request = asked();
        request.provider_data.set_part(dialect, Part::Extra, "service_tier", "flex");
        cases.push(Case { name: format!("{dialect}'s own field"), place: "provider_data".into(), request });

        let key = match dialect {
            Dialect::Anthropic | Dialect::BedrockConverse => "signature",
            Dialect::OpenaiChat => "reasoning_details",
            Dialect::OpenaiResponses => "encrypted_content",
            Dialect::Gemini => "thought_signature",
            _ => panic!("sealed thinking of {dialect} is missing here"),
        };
        let value = match dialect {
            Dialect::OpenaiChat => json!([{"type": "reasoning.encrypted", "data": "c2VhbGVk", "index": 0}]),
            _ => json!("c2VhbGVk"),
        };
        let mut thinking = ThinkingBlock::new("Hm.");
        thinking.provider_data.set_part(dialect, Part::State, key, value);
        let answer = Message::assistant([Block::Thinking(thinking), Block::text("So.")]);
        let request = asked().message(answer).user("And?");
        cases.push(Case { name: format!("{dialect}'s thinking"), place: "messages[1].content[0]".into(), request });
    }
    cases
}

/// Returns the value at a place such as `messages[0].content[1]`, in the notation of losses.
fn at<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    value.pointer(&format!("/{}", place.replace('[', ".").replace(']', "").replace('.', "/")))
}

/// Returns whether everything that was sent there is on the other side. More may be there: defaults, names, the
/// dialect's own marks. These count as equal:
///
/// - An absent value means text, auto, no limit on simultaneous calls, no stream, and no thinking.
/// - A level equals the budget that it represents, or the level that a family of models has for it.
/// - Chat shows whatever thinking it shows; only some of its providers can be told to hide it.
/// - Text in the message equals its bytes in base64; adjacent texts are one text.
/// - The media type of a URL or a file is a hint: the provider checks for itself. The same applies to the kind of the
///   block if the wire has one kind of file for all.
/// - Ids of calls may change if the result names the same one (which another test checks).
/// - The spacing of arguments is kept if arguments are a string.
fn carries(sent: &Value, arrived: &Value, model: &str, dialect: Dialect) -> bool {
    match (sent, arrived) {
        (Value::Object(sent), Value::Object(arrived)) => {
            if sent.contains_key("include_summary") {
                return thinks_alike(sent, arrived, model, dialect);
            }
            if let Some(text) = sent.get("text").and_then(Value::as_str) {
                return holds_text(arrived, text) && unsaid_or_there(sent, arrived, "cache");
            }
            sent.iter().all(|(key, value)| match key.as_str() {
                "provider_data" | "media_type" | "id" | "tool_call_id" | "arguments_text" => true,
                "type" if sent.contains_key("source") => arrived.contains_key("source"),
                _ => carries(value, arrived.get(key).unwrap_or(&Value::Null), model, dialect),
            })
        }
        (Value::Array(sent), Value::Array(arrived)) if sent.len() == arrived.len() => {
            sent.iter().zip(arrived).all(|(sent, arrived)| carries(sent, arrived, model, dialect))
        }
        (Value::Array(sent), Value::Array(arrived)) => {
            let all = arrived.iter().filter_map(|block| block["text"].as_str()).collect::<String>();
            sent.iter().all(|block| {
                block.get("cache").is_none() && block["text"].as_str().is_some_and(|text| all.contains(text))
            })
        }
        (sent, Value::Null) => {
            let unsaid = [json!("text"), json!("auto"), json!(true), json!(false), json!([])];
            unsaid.contains(sent) || sent["level"] == "none"
        }
        (sent, arrived) => sent == arrived,
    }
}

fn unsaid_or_there(sent: &Map<String, Value>, arrived: &Map<String, Value>, key: &str) -> bool {
    sent.get(key).is_none_or(|value| arrived.get(key) == Some(value))
}

/// Returns whether the text is here: unchanged, as a part of more text, or as bytes.
fn holds_text(arrived: &Map<String, Value>, text: &str) -> bool {
    let has =
        |key: &str, wanted: &str| arrived.get(key).and_then(Value::as_str).is_some_and(|found| found.contains(wanted));
    has("text", text) || has("data", &STANDARD.encode(text))
}

fn thinks_alike(sent: &Map<String, Value>, arrived: &Map<String, Value>, model: &str, dialect: Dialect) -> bool {
    let level = |of: &Map<String, Value>| of.get("level").and_then(|level| Level::deserialize(level).ok());
    let budget = |of: &Map<String, Value>| of.get("budget").and_then(Value::as_i64);
    let shown = dialect == Dialect::OpenaiChat || sent["include_summary"] == arrived["include_summary"];
    match (level(sent), budget(sent)) {
        (Some(Level::None), None) => level(arrived) == Some(Level::None),
        (_, Some(wanted)) => budget(arrived) == Some(wanted) && shown,
        (Some(wanted), None) => {
            let rule = &rules_for(model).thinking;
            let is_level = level(arrived) == Some(rule.meaning(wanted).unwrap_or(wanted));
            shown && (is_level || budget(arrived).is_some() && budget(arrived) == thinking_budget(rule, wanted))
        }
        (None, None) => shown,
    }
}

fn every_field_arrives_or_is_a_loss(dialect: Dialect, model: &str) {
    let named = every_case().map(|mut case| {
        case.request.model = model.to_owned();
        case
    });
    each_arrives_or_is_a_loss(named, dialect, model);
}

/// The same for a request that a client sent in this dialect, to which the field is then added.
fn every_added_field_arrives_or_is_a_loss(dialect: Dialect, model: &str) {
    let mut plain = asked();
    plain.model = model.to_owned();
    let wire = dialect.write_request(&plain, &target(dialect)).unwrap();
    let read = dialect.read_request(Some(&wire.path), &wire.body).unwrap();
    // Chat's marks may be anywhere, so those that have no place are not reported. A strict tool of Gemini may have got
    // that from the mode of calls, which is still sent.
    let known = ["assistant cached text", "cached call", "cached result"];
    let is_known = |case: &Case| match dialect {
        Dialect::OpenaiChat => known.contains(&case.name.as_str()),
        Dialect::Gemini => case.name.starts_with("a strict tool"),
        _ => false,
    };
    let added = every_case().filter(|case| !is_known(case)).map(|mut case| {
        case.request.model = model.to_owned();
        case.request.provider_data.merge(read.provider_data.clone());
        case
    });
    each_arrives_or_is_a_loss(added, dialect, model);
}

fn each_arrives_or_is_a_loss(cases: impl Iterator<Item = Case>, dialect: Dialect, model: &str) {
    let mut findings = Findings::default();
    let mut target = target(dialect);
    target.rules = rules_for(model);
    for case in cases {
        findings.case();
        let request = &case.request;
        let wire = match dialect.write_request(request, &target) {
            Ok(wire) => wire,
            Err(error) => {
                findings.add(&case.name, format!("is refused: {error}"));
                continue;
            }
        };
        let arrived = match dialect.read_request(Some(&wire.path), &wire.body) {
            Ok(arrived) => arrived,
            Err(error) => {
                findings.add(&case.name, format!("makes a document that is not read: {error}\n{}", wire.body));
                continue;
            }
        };
        let (sent, arrived) = (serde_json::to_value(request).unwrap(), serde_json::to_value(&arrived).unwrap());
        let (before, after) = (at(&sent, &case.place), at(&arrived, &case.place));
        let foreign = case.place == "provider_data";
        let nothing = Value::Null;
        let arrived_here = match foreign {
            true => has_leftovers(after, dialect, before),
            false => carries(before.unwrap_or(&nothing), after.unwrap_or(&nothing), model, dialect),
        };
        if !arrived_here && !is_lost(&wire.losses, &case.place) {
            let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            findings.add(
                &case.name,
                format!("{} became {} without a word; the losses: {:?}", show(before), show(after), wire.losses),
            );
        }
    }
    findings.report();
}

/// Returns whether leftovers of the request are on the wire: this dialect's own, or fields that it has as well.
fn has_leftovers(after: Option<&Value>, dialect: Dialect, before: Option<&Value>) -> bool {
    let extra = |data: &Value| data.get("extra").and_then(Value::as_object).cloned();
    let before: Vec<_> =
        before.and_then(Value::as_object).into_iter().flatten().filter_map(|(_, data)| extra(data)).collect();
    let after = after.and_then(|after| extra(after.get(dialect.as_str())?)).unwrap_or_default();
    !before.is_empty() && before.iter().flatten().all(|(key, value)| after.get(key) == Some(value))
}

#[test]
fn anthropic() {
    every_field_arrives_or_is_a_loss(Dialect::Anthropic, "claude-sonnet-4-5");
    every_field_arrives_or_is_a_loss(Dialect::Anthropic, "claude-opus-5");
    every_added_field_arrives_or_is_a_loss(Dialect::Anthropic, "a-model-of-my-own");
}

#[test]
fn openai_chat() {
    every_field_arrives_or_is_a_loss(Dialect::OpenaiChat, "gpt-4.1");
    every_field_arrives_or_is_a_loss(Dialect::OpenaiChat, "gpt-5.1");
    every_added_field_arrives_or_is_a_loss(Dialect::OpenaiChat, "a-model-of-my-own");
}

#[test]
fn openai_responses() {
    every_field_arrives_or_is_a_loss(Dialect::OpenaiResponses, "gpt-4.1");
    every_field_arrives_or_is_a_loss(Dialect::OpenaiResponses, "gpt-5.1");
    every_added_field_arrives_or_is_a_loss(Dialect::OpenaiResponses, "a-model-of-my-own");
}

#[test]
fn gemini() {
    every_field_arrives_or_is_a_loss(Dialect::Gemini, "gemini-2.5-flash");
    every_field_arrives_or_is_a_loss(Dialect::Gemini, "gemini-3-pro-preview");
    every_added_field_arrives_or_is_a_loss(Dialect::Gemini, "a-model-of-my-own");
}

#[test]
fn a_model_that_nothing_is_known_about() {
    for dialect in Dialect::ALL {
        every_field_arrives_or_is_a_loss(dialect, "a-model-of-my-own");
    }
}
