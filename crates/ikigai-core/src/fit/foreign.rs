//! Data that other dialects and other providers left in a request, which is not sent.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr as _;

use super::issuer::Issuer;
use super::{FittedBlock, Fitting, Place, Shared, StateUse, Within};
use crate::dialect::hosted;
use crate::{Block, Dialect, Fields, Json, Loss, LossCode, Other, Part, ProviderData, Text};

impl Fitting<'_> {
    /// Returns the fields of the request that another dialect left and that this one also has. The others are reported.
    pub(super) fn shared_fields(&mut self) -> Fields {
        let data = &self.request.provider_data;
        self.foreign_fields_within(Within::Request, data, "provider_data");
        let mut fields = Fields::default();
        for (shared, value) in self.shared(Within::Request, data) {
            fields.set(shared.name, value.clone());
        }
        fields
    }

    /// Returns the fields of other dialects in one place that this one also has.
    fn shared<'d>(
        &self,
        within: Within,
        data: &'d ProviderData,
    ) -> impl Iterator<Item = (&'static Shared, &'d Json)> + use<'d> {
        let (dialect, all) = (self.dialect, self.abilities.shared);
        let here = all.iter().filter(move |shared| shared.within == within);
        here.filter_map(move |shared| Some((shared, shared.value(dialect, data)?)))
    }

    /// Reports the wire fields that only other dialects have, once for each place: those that are lost, and those that
    /// can be omitted without consequences.
    pub(super) fn foreign_fields(&mut self, data: &ProviderData, place: impl Display) {
        self.foreign_fields_within(Within::Elsewhere, data, place);
    }

    /// Like [`foreign_fields`](Self::foreign_fields), if some mean the same in both dialects, or nothing.
    pub(super) fn foreign_fields_within(&mut self, within: Within, data: &ProviderData, place: impl Display) {
        // Most blocks have nothing.
        if data.is_empty() {
            return;
        }
        let (mut lost, mut idle) = (Vec::new(), Vec::new());
        for (dialect, extra) in data.parts(Part::Extra).filter(|(name, _)| *name != self.dialect.as_str()) {
            let shared: Vec<_> =
                self.shared(within, data).map(|(shared, _)| (shared.of.as_str(), shared.name)).collect();
            let neutral = Dialect::from_str(dialect).map_or(&[][..], |dialect| dialect.abilities().neutral);
            let said = extra.iter().filter(|(name, value)| !value.is_null() && !shared.contains(&(dialect, name)));
            let (no_loss, loss): (Vec<_>, Vec<_>) = said.partition(|(name, value)| {
                is_empty_list(value) || neutral.iter().any(|field| field.fits(name, value, within))
            });
            for (fields, known) in [(loss, &mut lost), (no_loss, &mut idle)] {
                let names: Vec<&str> = fields.into_iter().map(|(name, _)| name).collect();
                if !names.is_empty() {
                    known.push(format!("only {dialect} knows {}", names.join(", ")));
                }
            }
        }
        if !lost.is_empty() {
            let why = format!("{}; left out", lost.join("; "));
            self.losses.push(Loss::new(LossCode::ForeignContent, "provider_data", place.to_string(), why));
        }
        if !idle.is_empty() {
            let why = format!("{}; left out, which changes nothing", idle.join("; "));
            self.losses.push(Loss::info(LossCode::ForeignContent, "provider_data", place.to_string(), why));
        }
    }

    /// Returns whether the target may read the state in a place, with a loss if state is left out there.
    pub(super) fn state(&mut self, data: &ProviderData, place: impl Display, issuer: Issuer) -> StateUse {
        let is_own = issuer.is_own();
        let state = if is_own { StateUse::Own } else { StateUse::Foreign };
        if data.is_empty() {
            return state;
        }
        let mut left: Vec<&str> = foreign_state(data, self.dialect).collect();
        if !is_own && has_state(data.part(self.dialect, Part::State)) {
            left.push(self.dialect.as_str());
        }
        if !left.is_empty() {
            let why = match issuer {
                Issuer::OtherModel => "thinking state that this model cannot read is left out".to_owned(),
                Issuer::Target | Issuer::Unknown | Issuer::OtherProvider => {
                    format!("thinking state of another provider ({}) is left out", left.join(", "))
                }
            };
            self.losses.push(Loss::new(LossCode::ForeignState, "thinking", place.to_string(), why));
        }
        state
    }

    /// A call of a provider-run tool, or its result: the unchanged wire object for its issuer; a loss for any other
    /// target.
    pub(super) fn provider_run<'b>(&mut self, block: &Block, place: Place, issuer: Issuer) -> Option<FittedBlock<'b>> {
        if issuer != Issuer::OtherProvider
            && let Some(data) = block.wire(self.dialect)
        {
            let block = Cow::Owned(Block::Other(Other { dialect: self.dialect, data: data.clone() }));
            return Some(FittedBlock { block, place, state: StateUse::Own });
        }
        if !hosted::is_half(block, self.dialect) {
            let why = "only the provider that ran this tool accepts it back; left out";
            self.losses.push(Loss::new(LossCode::ForeignContent, block.kind().as_str(), place.to_string(), why));
        }
        None
    }

    /// Returns a text with the citations that go back to their issuer; other targets get only the text, and a note.
    pub(super) fn cited<'b>(&mut self, block: &'b Block, text: &Text, place: Place, state: StateUse) -> Cow<'b, Block> {
        let own = (state == StateUse::Own).then(|| hosted::with_own_citations(text, self.dialect, self.spelling));
        if let Some(own) = own.flatten() {
            return Cow::Owned(Block::Text(own));
        }
        let why = "citations can go back only to the provider that made them, and not to all of them; the text is sent without them";
        self.losses.push(Loss::info(LossCode::NotInDialect, "citations", place.to_string(), why));
        // They stay on it: a text that was split for its citations is not joined to its neighbours with a blank line.
        Cow::Borrowed(block)
    }

    /// Returns whether the target accepts an `other` block; reports a loss if it does not.
    pub(super) fn knows(&mut self, other: &Other, place: impl Display, issuer: Issuer) -> bool {
        let why = if other.dialect != self.dialect {
            format!("a block that only {} has; left out", other.dialect)
        } else if issuer == Issuer::OtherProvider {
            "a block that another provider made; left out".to_owned()
        } else {
            return true;
        };
        self.losses.push(Loss::new(LossCode::ForeignContent, "other", place.to_string(), why));
        false
    }
}

/// Returns whether a list is empty: clients send such lists for things they do not use.
fn is_empty_list(value: &Json) -> bool {
    value.value().as_array().is_some_and(Vec::is_empty)
}

/// Returns whether there is more than the id of an item, which is useless without the rest.
fn has_state(state: &Fields) -> bool {
    state.names().any(|name| name != "id")
}

/// Returns the other dialects that left state.
fn foreign_state(data: &ProviderData, own: Dialect) -> impl Iterator<Item = &str> {
    let states = data.parts(Part::State).filter(move |(name, state)| *name != own.as_str() && has_state(state));
    states.map(|(name, _)| name)
}

/// Returns whether another dialect left anything at all.
pub(super) fn is_foreign(data: &ProviderData, own: Dialect) -> bool {
    let parts = [Part::State, Part::Extra, Part::Answer, Part::Shape];
    parts.into_iter().any(|part| data.parts(part).any(|(name, _)| name != own.as_str()))
}
