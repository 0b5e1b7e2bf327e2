//! What other dialects left on an answer that a wire has no place for.

use crate::{Dialect, Loss, LossCode, Part, ProviderData};

/// Notes the fields of an answer that only other dialects know, one loss for each dialect. Fields that are `null` say
/// nothing, and those in `told` have found a place.
pub(super) fn note_fields(data: &ProviderData, own: Dialect, place: &str, told: &[&str], losses: &mut Vec<Loss>) {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != own) {
        let fields = [Part::Extra, Part::Answer].into_iter().flat_map(|part| data.part(dialect, part).iter());
        let names = fields.filter(|(name, value)| !value.is_null() && !told.contains(name)).map(|(name, _)| name);
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            let why = format!("only {dialect} knows {}; left out", names.join(", "));
            let place = format!("{place}.{dialect}");
            losses.push(Loss::new(LossCode::ForeignContent, "provider_data", place, why));
        }
    }
}

/// Notes sealed state of other dialects that has no slot in this place.
pub(super) fn note_state(data: &ProviderData, own: Dialect, place: &str, losses: &mut Vec<Loss>) {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != own) {
        if !data.part(dialect, Part::State).is_empty() {
            let why = format!("state of {dialect} has no place here; left out");
            losses.push(Loss::new(LossCode::ForeignState, "provider_data", place, why));
        }
    }
}
