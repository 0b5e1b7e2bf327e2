use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn decoded(part: Value) -> Value {
    let text = part.to_string();
    serde_json::to_value(decode(serde_json::from_str(&text).unwrap())).unwrap()
}

#[test]
fn each_kind_of_part_is_its_block() {
    for (part, block) in [
        (json!({"text": "Hi"}), json!({"type": "text", "text": "Hi"})),
        (json!({"text": "Hm", "thought": true}), json!({"type": "thinking", "text": "Hm"})),
        (
            json!({"text": "", "thoughtSignature": "c2ln"}),
            json!({"type": "text", "text": "", "provider_data": {"gemini": {"thought_signature": "c2ln"}}}),
        ),
        (
            json!({"text": "Hi", "thought": false, "partMetadata": {"a": 1}}),
            json!({"type": "text", "text": "Hi", "provider_data": {"gemini": {"extra": {"partMetadata": {"a": 1}}, "shape": {"defaults": {"thought": false}}}}}),
        ),
        (
            json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}),
        ),
        (
            json!({"inline_data": {"mime_type": "audio/wav", "data": "AAAA"}}),
            json!({"type": "audio", "source": {"type": "base64", "media_type": "audio/wav", "data": "AAAA"},
                "provider_data": {"gemini": {"shape": {"names": ["mime_type", "inline_data"]}}}}),
        ),
        (
            json!({"inlineData": {"mimeType": "application/pdf", "data": "AAAA", "displayName": "a.pdf"}}),
            json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}, "name": "a.pdf"}),
        ),
        (
            json!({"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a.jpg"}}),
            json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg", "media_type": "image/jpeg"}}),
        ),
        (
            json!({"fileData": {"mimeType": "application/pdf", "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x1"}}),
            json!({"type": "document", "source": {
                "type": "file", "id": "https://generativelanguage.googleapis.com/v1beta/files/x1", "media_type": "application/pdf"}}),
        ),
        (
            json!({"fileData": {"fileUri": "gs://bucket/a"}}),
            json!({"type": "document", "source": {"type": "file", "id": "gs://bucket/a"}}),
        ),
        (
            json!({"functionCall": {"id": "c1", "name": "f", "args": {"b": 1, "a": 2}}, "thoughtSignature": "c2ln"}),
            json!({"type": "tool_call", "id": "c1", "name": "f", "arguments": {"b": 1, "a": 2},
                "provider_data": {"gemini": {"thought_signature": "c2ln"}}}),
        ),
        (
            json!({"functionCall": {"name": "f"}}),
            json!({"type": "tool_call", "id": "", "name": "f", "arguments": {}, "provider_data": {"gemini": {"shape": {"no_args": true}}}}),
        ),
        (
            json!({"functionResponse": {"id": "c1", "name": "f", "response": {"output": "4"}}}),
            json!({"type": "tool_result", "tool_call_id": "c1", "content": [{"type": "text", "text": "4"}], "is_error": false,
                "provider_data": {"gemini": {"shape": {"name": "f"}}}}),
        ),
    ] {
        assert_eq!(decoded(part), block);
    }
}

#[test]
fn what_has_no_block_of_ours_is_kept_whole() {
    for part in [
        json!({"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}, "videoMetadata": {"startOffset": "2s"}}),
        json!({"fileData": {"mimeType": "video/mp4", "fileUri": "https://youtu.be/x"}}),
        json!({"videoMetadata": {"startOffset": "2s"}}),
        // A picture from the thoughts is not part of the answer.
        json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thought": true}),
        json!({"inlineData": {"data": "AAAA"}}),
        json!({"text": "a", "executableCode": {}}),
        json!({"text": "a", "inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        json!({"functionCall": {"args": {}}}),
        json!({"functionCall": {"name": "f", "args": "{}"}}),
        json!({}),
    ] {
        assert_eq!(decoded(part.clone()), json!({"type": "other", "dialect": "gemini", "data": part}));
    }
}

#[test]
fn what_the_provider_ran_is_a_call_or_a_result_that_keeps_its_part() {
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "c2ln"});
    let ran = json!({"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "2"}});
    let search = json!({"toolCall": {"id": "a", "tool_type": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}});
    let found = json!({"toolResponse": {"id": "a", "toolType": "GOOGLE_SEARCH_WEB"}});
    for (part, block) in [
        (
            &code,
            json!({"type": "provider_call", "id": "", "tool": "code_execution", "name": "executableCode",
            "arguments": {"language": "PYTHON", "code": "1+1"}, "provider_data": {"gemini": {"wire": code}}}),
        ),
        (
            &ran,
            json!({"type": "provider_result", "call_id": "", "tool": "code_execution",
            "content": [{"type": "text", "text": "2"}], "error": {"code": "OUTCOME_FAILED"},
            "provider_data": {"gemini": {"wire": ran}}}),
        ),
        (
            &search,
            json!({"type": "provider_call", "id": "a", "tool": "web_search", "name": "GOOGLE_SEARCH_WEB",
            "arguments": {"queries": ["q"]}, "provider_data": {"gemini": {"wire": search}}}),
        ),
        (
            &found,
            json!({"type": "provider_result", "call_id": "a", "tool": "web_search",
            "provider_data": {"gemini": {"wire": found}}}),
        ),
    ] {
        assert_eq!(decoded(part.clone()), block);
    }
}

#[test]
fn faults_of_a_client_are_named() {
    for (part, expected) in [
        (json!({"inlineData": {"mimeType": "image/png"}}), Some("inlineData.data is missing")),
        (json!({"fileData": {"mimeType": "image/png"}}), Some("fileData.fileUri is missing")),
        (json!({"functionCall": {"args": {}}}), Some("functionCall.name is missing")),
        (json!({"functionCall": {"name": "f", "args": [1]}}), Some("functionCall.args must be an object")),
        (json!({"functionCall": {"name": "f", "args": null}}), None),
        (json!({"executableCode": {}}), None),
    ] {
        let text = part.to_string();
        assert_eq!(fault(&serde_json::from_str(&text).unwrap()), expected);
    }
}

#[test]
fn base64_is_standard_in_the_format_and_as_it_was_on_the_wire() {
    for (written, standard, mark) in [
        ("+/A=", "+/A=", None),
        ("-_A=", "+/A=", Some("url")),
        ("-_A", "+/A=", Some("url-unpadded")),
        ("+/A", "+/A=", Some("unpadded")),
        ("AA", "AA==", Some("unpadded")),
        ("AAAA", "AAAA", None),
        ("A", "A", None),
        ("", "", None),
    ] {
        assert_eq!(standard_base64(written.to_owned()), (standard.to_owned(), mark), "{written}");
        assert_eq!(as_written(standard, mark), written);
    }
}

#[test]
fn every_source_has_its_part() {
    let written = |source: Source, spelling| {
        let image = Block::Image(Image { source, cache: None, provider_data: ProviderData::default() });
        media(&image, spelling).map(|part| serde_json::to_value(part).unwrap())
    };
    let url = |url: &str| Source::Url { url: url.to_owned(), media_type: None };
    let file = |id: &str| Source::File { id: id.to_owned(), media_type: Some("image/png".to_owned()) };
    assert_eq!(
        written(Source::Text { media_type: "text/plain".into(), text: "Hi".into() }, Spelling::Ours),
        Ok(json!({"inlineData": {"mimeType": "text/plain", "data": "SGk="}})),
    );
    assert_eq!(
        written(url("https://example.com/a.png?x=1"), Spelling::Ours),
        Ok(json!({"fileData": {"mimeType": "image/png", "fileUri": "https://example.com/a.png?x=1"}})),
    );
    assert_eq!(
        written(url("https://example.com/a.png"), Spelling::AsItCame),
        Ok(json!({"fileData": {"fileUri": "https://example.com/a.png"}})),
    );
    assert_eq!(
        written(url("data:image/png;base64,AAAA"), Spelling::Ours),
        Ok(json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})),
    );
    assert_eq!(
        written(file("gs://bucket/a"), Spelling::Ours),
        Ok(json!({"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a"}})),
    );
    assert_eq!(
        written(file("file-abc"), Spelling::Ours),
        Err("it is a file of another provider, which this one cannot read")
    );
}

#[test]
fn a_changed_source_leaves_what_belonged_to_the_old_one() {
    let part = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a"}, "mediaResolution": {"level": "LOW"}});
    let text = part.to_string();
    let mut block = decode(serde_json::from_str(&text).unwrap());
    let Block::Image(image) = &mut block else { panic!() };
    image.source = Source::Url { url: "https://example.com/a.png".to_owned(), media_type: None };
    let mut written = media(&block, Spelling::AsItCame).unwrap();
    dress(&mut written, block.provider_data().unwrap(), Spelling::AsItCame);
    assert_eq!(
        serde_json::to_value(&written).unwrap(),
        json!({"fileData": {"fileUri": "https://example.com/a.png"}, "mediaResolution": {"level": "LOW"}}),
    );
}
