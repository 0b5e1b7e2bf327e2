use pretty_assertions::assert_eq;

use super::*;
use crate::ThinkingKind;
use crate::thinking::plan;

fn rule(kind: ThinkingKind, off: ThinkingOff) -> ThinkingRule {
    let levels = vec![Level::Low, Level::Med, Level::High];
    ThinkingRule { kind, levels: levels.into(), off, ..ThinkingRule::default() }
}

fn sent(thinking: &Thinking, rule: &ThinkingRule, style: ReasoningRequest) -> Value {
    let plan = plan(thinking, rule, None);
    Value::Object(encode(&plan, thinking, rule, style, &mut Vec::new()))
}

#[test]
fn every_level_in_every_style() {
    use ReasoningRequest::*;
    let effort = rule(ThinkingKind::Effort, ThinkingOff::Word);
    let toggle = rule(ThinkingKind::Toggle, ThinkingOff::Word);
    let silent = rule(ThinkingKind::Effort, ThinkingOff::Silence);
    let none = Thinking::from(Level::None);
    let med = Thinking::from(Level::Med);
    let hidden = Thinking::from(Level::Med).hidden();
    let table = [
        (&none, &effort, Effort, json!({"reasoning_effort": "none"})),
        (&med, &effort, Effort, json!({"reasoning_effort": "medium"})),
        (&none, &silent, Effort, json!({})),
        (&med, &toggle, Effort, json!({"reasoning_effort": "default"})),
        (&none, &effort, EffortAndFormat, json!({"reasoning_effort": "none"})),
        (&med, &effort, EffortAndFormat, json!({"reasoning_effort": "medium", "reasoning_format": "parsed"})),
        (&hidden, &effort, EffortAndFormat, json!({"reasoning_effort": "medium", "reasoning_format": "hidden"})),
        (&none, &effort, ReasoningObject, json!({"reasoning": {"effort": "none"}})),
        (&med, &effort, ReasoningObject, json!({"reasoning": {"effort": "medium", "enabled": true}})),
        (&med, &toggle, ReasoningObject, json!({"reasoning": {"enabled": true}})),
        (&none, &toggle, ThinkingType, json!({"thinking": {"type": "disabled"}})),
        (&med, &toggle, ThinkingType, json!({"thinking": {"type": "enabled"}})),
        (&none, &effort, ThinkingTypeAndEffort, json!({"thinking": {"type": "disabled"}})),
        (&med, &effort, ThinkingTypeAndEffort, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "medium"})),
        (&none, &toggle, ChatTemplate, json!({"chat_template_kwargs": {"enable_thinking": false}})),
        (&med, &toggle, ChatTemplate, json!({"chat_template_kwargs": {"enable_thinking": true}})),
        (&med, &effort, Nothing, json!({})),
    ];
    for (thinking, rule, style, expected) in table {
        assert_eq!(sent(thinking, rule, style), expected, "{thinking:?} {style:?}");
    }
    let hidden = Thinking::from(Level::Low).hidden();
    assert_eq!(
        sent(&hidden, &effort, ReasoningObject),
        json!({"reasoning": {"effort": "low", "enabled": true, "exclude": true}})
    );
    let takes_budget = ThinkingRule { takes_budget: true, min: 1024, max: 64_000, ..effort };
    assert_eq!(
        sent(&Thinking::budget(2000), &takes_budget, ReasoningObject),
        json!({"reasoning": {"max_tokens": 2000}})
    );
}

#[test]
fn a_provider_without_a_parameter_says_so() {
    let rule = rule(ThinkingKind::Effort, ThinkingOff::Word);
    let thinking = Thinking::from(Level::High);
    let mut losses = Vec::new();
    encode(&plan(&thinking, &rule, None), &thinking, &rule, ReasoningRequest::Nothing, &mut losses);
    assert_eq!(losses.len(), 1);
}

#[test]
fn thinking_that_cannot_be_hidden_is_told() {
    let rule = rule(ThinkingKind::Effort, ThinkingOff::Word);
    let hidden = Thinking::from(Level::High).hidden();
    let told = |style| {
        let mut losses = Vec::new();
        encode(&plan(&hidden, &rule, None), &hidden, &rule, style, &mut losses);
        losses.len()
    };
    assert_eq!((told(ReasoningRequest::Effort), told(ReasoningRequest::ReasoningObject)), (1, 0));
}
