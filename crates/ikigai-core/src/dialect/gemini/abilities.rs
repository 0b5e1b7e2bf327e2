//! The abilities of this wire format, for [`fit`](crate::fit).

use crate::fit::{
    Abilities, AskedBy, Beginning, CacheMarks, FirstCharacter, FormatStrict, IdCharacters, IdRule, JsonMode, NameRule,
    OutputLimit, Prefill, Repeats, Restricted, SchemaFormat, Seeds, Stops, StrictTools, Subset, Support,
    SystemMessages, ThinkingBack, ThinkingWire, TopK,
};

/// The abilities of this wire format.
pub(crate) const ABILITIES: Abilities = Abilities {
    tool_names: NameRule { longest: 64, also: ".:", first: FirstCharacter::Letter },
    call_ids: IdRule { longest: usize::MAX, characters: IdCharacters::Any, repeats: Repeats::Taken },
    greatest_temperature: 2.0,
    least_top_p_beside_thinking: 1.0,
    top_k: TopK::Taken,
    penalties: Support::Taken,
    seed: Seeds::Bits32,
    stop: Stops { most: 5, blank: Support::Taken },
    output_limit: OutputLimit::Optional,
    least_output: 1,
    parallel_tool_calls: Support::Missing,
    choice_of_own_tools: Support::Missing,
    strict_tools: StrictTools::Missing,
    json_mode: JsonMode::Taken,
    schema_format: SchemaFormat {
        labels: Support::Missing,
        subset: Subset::Any,
        strict: FormatStrict::Always,
        beside_prefill: Support::Taken,
        beside_citations: Support::Taken,
    },
    thinking: ThinkingWire {
        asked_by: AskedBy::BudgetOrLevel,
        forced_tool_beside_budget: Support::Taken,
        budget_in_unsigned_turn: Support::Taken,
        restricted: Restricted::No,
    },
    thinking_back: ThinkingBack::Sealed,
    message_state: Support::Missing,
    system_messages: SystemMessages::Nowhere,
    stored: &[],
    neutral: &[],
    shared: &[],
    beginning: Beginning::User,
    prefill: Prefill { trailing_blanks: Support::Taken, beside_budget: Support::Taken },
    longest_cache_key: None,
    automatic_cache: None,
    cache_marks: CacheMarks::Never,
};
