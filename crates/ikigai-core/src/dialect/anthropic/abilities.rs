//! The abilities of this wire format, for [`fit`](crate::fit).

use crate::fit::{
    Abilities, AskedBy, AutomaticCache, AutomaticTaken, Beginning, CacheMarks, FirstCharacter, FormatStrict,
    IdCharacters, IdRule, JsonMode, MarkRule, MarkTtl, NameRule, Neutral, OutputLimit, Prefill, Repeats, Restricted,
    SchemaFormat, Seeds, Stops, StrictTools, Subset, Support, SystemMessages, ThinkingBack, ThinkingWire, TopK, Unsaid,
};

/// The abilities of this wire format.
pub(crate) const ABILITIES: Abilities = Abilities {
    tool_names: NameRule { longest: 64, also: "", first: FirstCharacter::Any },
    call_ids: IdRule { longest: 256, characters: IdCharacters::Word, repeats: Repeats::Refused },
    greatest_temperature: 1.0,
    least_top_p_beside_thinking: 0.95,
    top_k: TopK::Taken,
    penalties: Support::Missing,
    seed: Seeds::None,
    stop: Stops { most: usize::MAX, blank: Support::Missing },
    output_limit: OutputLimit::Required,
    least_output: 1,
    parallel_tool_calls: Support::Taken,
    choice_of_own_tools: Support::Taken,
    strict_tools: StrictTools::Flag { subset: Subset::Plain, unsaid: Unsaid::Lenient },
    json_mode: JsonMode::Missing,
    schema_format: SchemaFormat {
        labels: Support::Missing,
        subset: Subset::Plain,
        strict: FormatStrict::AlwaysOfSubset,
        beside_prefill: Support::Missing,
        beside_citations: Support::Missing,
    },
    thinking: ThinkingWire {
        asked_by: AskedBy::BudgetOrAdaptive,
        forced_tool_beside_budget: Support::Missing,
        budget_in_unsigned_turn: Support::Missing,
        restricted: Restricted::No,
    },
    thinking_back: ThinkingBack::Sealed,
    message_state: Support::Missing,
    system_messages: SystemMessages::AfterUser,
    stored: &[],
    neutral: &[
        Neutral::when("is_error", "false"),
        // How large the pieces are in which arguments are streamed.
        Neutral::always("eager_input_streaming"),
        Neutral::when("service_tier", r#""auto""#),
    ],
    shared: &[],
    beginning: Beginning::User,
    prefill: Prefill { trailing_blanks: Support::Missing, beside_budget: Support::Missing },
    longest_cache_key: None,
    automatic_cache: Some(AutomaticCache { ttls: &["5m", "1h"], taken: AutomaticTaken::AsMark }),
    cache_marks: CacheMarks::Always(MarkRule {
        most: 4,
        tools: Support::Taken,
        turns: Support::Taken,
        inside_results: Support::Taken,
        ttl: MarkTtl::LongFirst,
    }),
};
