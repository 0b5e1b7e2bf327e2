//! Losses that all dialects have in common.

use crate::{Dialect, Fields, Json, Loss, LossCode, Other, Part, ProviderData};

/// Notes what other dialects than `own` left in `data` that `own` cannot write: one loss for each dialect, which names
/// its fields. `place` is what stands before `provider_data`: empty, or such as `content[2].`.
pub(crate) fn note_foreign(data: &ProviderData, own: Dialect, parts: &[Part], place: &str, losses: &mut Vec<Loss>) {
    for dialect in Dialect::PROVIDERS.into_iter().filter(|dialect| *dialect != own) {
        let mut names: Vec<&str> = parts.iter().flat_map(|part| said(data.part(dialect, *part))).collect();
        names.dedup();
        if !names.is_empty() {
            let why = format!("only {dialect} knows {}; left out", names.join(", "));
            let place = format!("{place}provider_data.{dialect}");
            losses.push(Loss::new(LossCode::ForeignContent, "provider_data", place, why));
        }
    }
}

/// The loss of a block that only another dialect has, named by its type, or else by its fields.
pub(super) fn block_loss(other: &Other, place: impl Into<String>) -> Loss {
    let why = format!("a block that only {} has ({}); it is left out", other.dialect, name_of(&other.data));
    Loss::new(LossCode::ForeignContent, "other", place, why)
}

/// What a dialect's own block or event is called: its type, or else the names of its fields.
pub(super) fn name_of(data: &Json) -> String {
    let fields: Fields = data.to().unwrap_or_default();
    match fields.str("type") {
        Some(kind) => kind.into_owned(),
        None => fields.names().collect::<Vec<_>>().join(", "),
    }
}

/// The names of the fields that say something.
fn said(fields: &Fields) -> impl Iterator<Item = &str> {
    fields.iter().filter(|(_, value)| !is_empty(value)).map(|(name, _)| name)
}

fn is_empty(value: &Json) -> bool {
    matches!(value.text(), "null" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn fields_of_other_dialects_are_named_and_empty_ones_are_not() {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Gemini, Part::Answer, "avgLogprobs", Json::of(&-0.5).unwrap());
        data.set_part(Dialect::Gemini, Part::Extra, "thought", true);
        data.set_part(Dialect::Gemini, Part::Extra, "labels", Json::parse("[]").unwrap());
        data.set_part(Dialect::Gemini, Part::Shape, "snake", true);
        data.set_part(Dialect::Anthropic, Part::Extra, "citations", Json::parse("[1]").unwrap());
        data.set_part(Dialect::OpenaiChat, Part::Answer, "logprobs", Json::null());
        let mut losses = Vec::new();
        note_foreign(&data, Dialect::Anthropic, &[Part::Extra, Part::Answer], "content[2].", &mut losses);
        let expected = Loss::new(
            LossCode::ForeignContent,
            "provider_data",
            "content[2].provider_data.gemini",
            "only gemini knows thought, avgLogprobs; left out",
        );
        assert_eq!(losses, [expected]);
    }
}
