//! What other dialects left on an answer that a wire has no place for.

use crate::{Dialect, Fields, Loss, LossCode, Other, Part, ProviderData};

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

/// The loss of a block that only another dialect has, named by its type, or else by its fields.
pub(super) fn block_loss(other: &Other, place: impl Into<String>) -> Loss {
    let fields: Fields = other.data.to().unwrap_or_default();
    let named = match fields.str("type") {
        Some(kind) => kind.into_owned(),
        None => fields.names().collect::<Vec<_>>().join(", "),
    };
    let why = format!("a block that only {} has ({named}); it is left out", other.dialect);
    Loss::new(LossCode::ForeignContent, "other", place, why)
}
