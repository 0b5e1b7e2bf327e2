//! The abilities of this wire format, for [`fit`](crate::fit).

use crate::Dialect;
use crate::fit::{
    Abilities, AskedBy, AutomaticCache, AutomaticTaken, Beginning, CacheMarks, FirstCharacter, FormatStrict,
    IdCharacters, IdRule, JsonMode, MarkRule, MarkTtl, NameRule, Neutral, OutputLimit, Prefill, Repeats, Restricted,
    SchemaFormat, Seeds, Shared, Stops, StrictTools, Subset, Support, SystemMessages, ThinkingBack, ThinkingWire, TopK,
    Unsaid, Within,
};

/// How much the model says. It is inside `text` here.
pub(super) const VERBOSITY: &str = "verbosity";

/// How closely a picture is examined, in Chat's terms.
pub(super) const DETAIL: Shared =
    Shared { of: Dialect::OpenaiChat, name: "image_url.detail", here: "detail", within: Within::Picture, values: &[] };

/// The abilities of this wire format.
pub(crate) const ABILITIES: Abilities = Abilities {
    tool_names: NameRule { longest: 64, also: "", first: FirstCharacter::Any },
    call_ids: IdRule { longest: 64, characters: IdCharacters::Any, repeats: Repeats::Taken },
    greatest_temperature: 2.0,
    least_top_p_beside_thinking: 1.0,
    top_k: TopK::Missing,
    penalties: Support::Missing,
    seed: Seeds::None,
    stop: Stops { most: 0, blank: Support::Taken },
    output_limit: OutputLimit::Optional,
    least_output: 16,
    parallel_tool_calls: Support::Taken,
    choice_of_own_tools: Support::Taken,
    strict_tools: StrictTools::Flag { subset: Subset::Complete, unsaid: Unsaid::Strict },
    json_mode: JsonMode::NeedsTheWord,
    schema_format: SchemaFormat {
        labels: Support::Taken,
        subset: Subset::Complete,
        strict: FormatStrict::Said,
        beside_prefill: Support::Taken,
        beside_citations: Support::Taken,
    },
    thinking: ThinkingWire {
        asked_by: AskedBy::Effort,
        forced_tool_beside_budget: Support::Taken,
        budget_in_unsigned_turn: Support::Taken,
        restricted: Restricted::No,
    },
    thinking_back: ThinkingBack::Sealed,
    message_state: Support::Missing,
    system_messages: SystemMessages::Anywhere,
    stored: &["store", "previous_response_id", "conversation"],
    neutral: &[
        Neutral::when("store", "false"),
        Neutral::when("background", "false"),
        Neutral::when("service_tier", r#""auto""#),
        Neutral::when("truncation", r#""disabled""#),
        Neutral::when("detail", r#""auto""#),
        // State is sealed for the client without being requested.
        Neutral::when("include", r#"["reasoning.encrypted_content"]"#),
        Neutral::always("parsed_arguments"),
    ],
    shared: &[
        Shared {
            of: Dialect::OpenaiChat,
            name: "safety_identifier",
            here: "safety_identifier",
            within: Within::Request,
            values: &[],
        },
        Shared {
            of: Dialect::OpenaiChat,
            name: "service_tier",
            here: "service_tier",
            within: Within::Request,
            values: &[],
        },
        Shared { of: Dialect::OpenaiChat, name: VERBOSITY, here: "text", within: Within::Request, values: &[] },
        DETAIL,
    ],
    beginning: Beginning::Anyone,
    prefill: Prefill { trailing_blanks: Support::Taken, beside_budget: Support::Taken },
    longest_cache_key: Some(64),
    automatic_cache: Some(AutomaticCache { ttls: &["30m", "12h"], taken: AutomaticTaken::Ttl }),
    cache_marks: CacheMarks::Model(MarkRule {
        most: 4,
        tools: Support::Missing,
        turns: Support::Missing,
        inside_results: Support::Taken,
        ttl: MarkTtl::Unsaid,
    }),
};
