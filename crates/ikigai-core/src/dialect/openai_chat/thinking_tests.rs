use pretty_assertions::assert_eq;

use super::*;
use crate::catalog::ThinkingKind;

fn sent(setting: ThinkingSetting, shown: ShowThinking, style: ReasoningRequest) -> Value {
    let thinks = matches!(setting, ThinkingSetting::Level(_) | ThinkingSetting::On | ThinkingSetting::Budget(_));
    let kind = ThinkingKind::Effort;
    let thinking = FittedThinking { setting, thinks, shown, kind, limit: None, losses: Vec::new(), must: false };
    let fields = encode(&thinking, style);
    let values = fields.into_iter().map(|(name, raw)| (name.into_owned(), serde_json::from_str(raw.get()).unwrap()));
    Value::Object(values.collect())
}

#[test]
fn every_setting_in_every_style() {
    use ReasoningRequest::*;
    let med = ThinkingSetting::Level(Level::Med);
    let (off, on, unsaid) = (ThinkingSetting::Off, ThinkingSetting::On, ThinkingSetting::Unsaid);
    let table = [
        (off, Effort, json!({"reasoning_effort": "none"})),
        (med, Effort, json!({"reasoning_effort": "medium"})),
        (unsaid, Effort, json!({})),
        (on, Effort, json!({"reasoning_effort": "default"})),
        (off, EffortAndFormat, json!({"reasoning_effort": "none"})),
        (med, EffortAndFormat, json!({"reasoning_effort": "medium", "reasoning_format": "parsed"})),
        (off, ReasoningObject, json!({"reasoning": {"effort": "none"}})),
        (med, ReasoningObject, json!({"reasoning": {"effort": "medium", "enabled": true}})),
        (on, ReasoningObject, json!({"reasoning": {"enabled": true}})),
        (ThinkingSetting::Budget(2000), ReasoningObject, json!({"reasoning": {"max_tokens": 2000}})),
        (off, ThinkingType, json!({"thinking": {"type": "disabled"}})),
        (on, ThinkingType, json!({"thinking": {"type": "enabled"}})),
        (off, ThinkingTypeAndEffort, json!({"thinking": {"type": "disabled"}})),
        (med, ThinkingTypeAndEffort, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "medium"})),
        (off, ChatTemplate, json!({"chat_template_kwargs": {"enable_thinking": false}})),
        (on, ChatTemplate, json!({"chat_template_kwargs": {"enable_thinking": true}})),
        (unsaid, ChatTemplate, json!({})),
        (med, Nothing, json!({})),
    ];
    for (setting, style, expected) in table {
        assert_eq!(sent(setting, ShowThinking::Unsaid, style), expected, "{setting:?} {style:?}");
    }
    assert_eq!(
        sent(med, ShowThinking::Hide, EffortAndFormat),
        json!({"reasoning_effort": "medium", "reasoning_format": "hidden"})
    );
    assert_eq!(
        sent(med, ShowThinking::Hide, ReasoningObject),
        json!({"reasoning": {"effort": "medium", "enabled": true, "exclude": true}})
    );
}
