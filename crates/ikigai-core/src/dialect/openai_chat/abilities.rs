//! The abilities of this wire format, for [`fit`](crate::fit).

use crate::Dialect;
use crate::fit::{
    Abilities, AskedBy, Beginning, CacheMarks, FirstCharacter, FormatStrict, IdCharacters, IdRule, JsonMode, MarkRule,
    MarkTtl, NameRule, Neutral, OutputLimit, Prefill, Repeats, Restricted, SchemaFormat, Seeds, Shared, Stops,
    StrictTools, Subset, Support, SystemMessages, ThinkingBack, ThinkingWire, TopK, Unsaid, Within,
};

/// How closely a picture is examined, in the terms of Responses.
pub(super) const DETAIL: Shared = Shared {
    of: Dialect::OpenaiResponses,
    name: "detail",
    here: "image_url.detail",
    within: Within::Picture,
    values: &["auto", "low", "high"],
};

/// The abilities of this wire format.
pub(crate) const ABILITIES: Abilities = Abilities {
    tool_names: NameRule { longest: 64, also: "", first: FirstCharacter::Any },
    call_ids: IdRule { longest: 40, characters: IdCharacters::Visible, repeats: Repeats::Taken },
    greatest_temperature: 2.0,
    least_top_p_beside_thinking: 1.0,
    top_k: TopK::Quirk,
    penalties: Support::Taken,
    seed: Seeds::Bits64,
    stop: Stops { most: 4, blank: Support::Taken },
    output_limit: OutputLimit::Optional,
    least_output: 1,
    parallel_tool_calls: Support::Taken,
    choice_of_own_tools: Support::Taken,
    strict_tools: StrictTools::Flag { subset: Subset::Complete, unsaid: Unsaid::Lenient },
    json_mode: JsonMode::NeedsTheWord,
    schema_format: SchemaFormat {
        labels: Support::Taken,
        subset: Subset::Complete,
        strict: FormatStrict::Said,
        beside_prefill: Support::Taken,
        beside_citations: Support::Taken,
    },
    thinking: ThinkingWire {
        asked_by: AskedBy::Quirk,
        forced_tool_beside_budget: Support::Taken,
        budget_in_unsigned_turn: Support::Taken,
        restricted: Restricted::AsInChat,
    },
    thinking_back: ThinkingBack::Text,
    message_state: Support::Taken,
    system_messages: SystemMessages::Anywhere,
    stored: &[],
    neutral: &[
        // Whoever writes the answer knows whether the client wants the usage.
        Neutral::when("stream_options", r#"{"include_usage": true}"#),
        Neutral::when("stream_options", r#"{"include_usage": false}"#),
        Neutral::when("store", "false"),
        // The defaults.
        Neutral::when("n", "1"),
        Neutral::when("logprobs", "false"),
        Neutral::when("logit_bias", "{}"),
        Neutral::when("modalities", r#"["text"]"#),
        Neutral::when("service_tier", r#""auto""#),
        Neutral::when("image_url.detail", r#""auto""#),
        // Read as cache hints, and reported as such where they are not supported.
        Neutral::always("cache_control"),
        Neutral::always("prompt_cache_breakpoint"),
        // The name of the tool, which its call has too.
        Neutral::within("name", Within::Result),
        // Marks that OpenAI's clients put on what they send back.
        Neutral::always("index"),
        Neutral::always("function.parsed_arguments"),
        Neutral::always("parsed"),
    ],
    shared: &[DETAIL],
    beginning: Beginning::Anyone,
    prefill: Prefill { trailing_blanks: Support::Taken, beside_budget: Support::Taken },
    longest_cache_key: Some(64),
    automatic_cache: None,
    cache_marks: CacheMarks::ProviderOrModel {
        provider: MarkRule {
            most: 4,
            tools: Support::Taken,
            turns: Support::Missing,
            inside_results: Support::Missing,
            ttl: MarkTtl::Any,
        },
        model: MarkRule {
            most: 4,
            tools: Support::Missing,
            turns: Support::Missing,
            inside_results: Support::Missing,
            ttl: MarkTtl::Unsaid,
        },
    },
};
