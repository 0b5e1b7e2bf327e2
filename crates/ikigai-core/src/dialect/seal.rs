//! A provider's sealed state, carried through a client that speaks another dialect.
//!
//! A client of dialect A sends back what it was given. If the answer came from a provider of dialect B, B's state
//! (signatures, encrypted reasoning) travels in A's own slot for such state, as text that we recognise when it returns:
//! `ikg1.` and the base64url of a JSON record. Nothing in it is secret from the client, which owns the conversation.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Reply;
use crate::{BlockKind, Dialect, Fields, Part, ProviderData, Text};

const PREFIX: &str = "ikg1.";
/// None of our notes has more fields.
const LONGEST_NOTE: usize = 8;

/// Who answered, and so issued the state in the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answerer {
    provider: Option<String>,
    /// The model that answered, or else the one that was asked for.
    pub(crate) model: Option<String>,
}

impl Answerer {
    /// Creates it for one answer. `model` is the one that it names, if any.
    pub(crate) fn new(reply: &Reply, model: Option<&str>) -> Self {
        let model = model.filter(|model| !model.is_empty()).or(reply.model.as_deref());
        Answerer { provider: reply.provider.clone(), model: model.map(str::to_owned) }
    }
}

/// The state of one block, and who issued it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sealed {
    /// The provider that issued it, if known.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    /// The model that issued it, if known.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The block it belongs to, if the slot does not say, in the terms of the dialect that carries it.
    #[serde(rename = "n", default, skip_serializing_if = "Fields::is_empty", deserialize_with = "note")]
    pub(crate) note: Fields,
    /// The block's state, and nothing else: a client could write such a record itself, and must not be able to inject
    /// anything with it.
    #[serde(rename = "d", deserialize_with = "ProviderData::read_state")]
    pub(crate) data: ProviderData,
}

/// Whether a text has nothing that would be written in this dialect, unless a piece of text follows. It may be nothing
/// but another dialect's state.
pub(crate) fn may_be_state_alone(text: &Text, own: Dialect) -> bool {
    let parts = [Part::State, Part::Extra, Part::Answer, Part::Shape];
    let is_foreign = || parts.into_iter().all(|part| text.provider_data.part(own, part).is_empty());
    text.text.is_empty() && !text.is_refusal() && is_foreign()
}

impl Sealed {
    /// Creates the record for other dialects' state on a block, for a client of dialect `own`. Returns `None` if there
    /// is no such state: seals are never empty. Only state is sealed, never how a document was spelled.
    pub(crate) fn of(data: &ProviderData, kind: BlockKind, own: Dialect, answerer: &Answerer) -> Option<Self> {
        let mut sealed = ProviderData::default();
        for dialect in Dialect::PROVIDERS.into_iter().filter(|dialect| *dialect != own) {
            let mut state = data.part(dialect, Part::State).clone();
            if kind != BlockKind::Thinking {
                // Items other than reasoning have ids too, but no provider needs those back.
                state.remove("id");
            }
            sealed.extend_part(dialect, Part::State, state);
        }
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        (!sealed.is_empty()).then(|| Sealed {
            provider: text(&answerer.provider),
            model: text(&answerer.model),
            note: Fields::default(),
            data: sealed,
        })
    }

    /// Encodes the record as text, for slots that accept any text.
    pub(crate) fn to_text(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(json))
    }

    /// Decodes text made by [`to_text`](Sealed::to_text). Returns `None` for any other text.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let record = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&record).ok()
    }

    /// Encodes the record as standard base64, for slots that clients decode and re-encode, like Gemini's.
    pub(crate) fn to_base64(&self) -> String {
        STANDARD.encode(self.to_text())
    }

    /// Decodes the output of [`to_base64`](Sealed::to_base64), in either alphabet, padded or not.
    pub(crate) fn from_base64(text: &str) -> Option<Self> {
        let plain: String = text.trim_end_matches('=').chars().map(url_safe).collect();
        let bytes = URL_SAFE_NO_PAD.decode(plain).ok()?;
        Sealed::from_text(std::str::from_utf8(&bytes).ok()?)
    }
}

/// Reads a note, which must be short: a forged one could have millions of fields, each many times its size in memory.
fn note<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
    let note = Fields::read_few(deserializer, LONGEST_NOTE)?;
    note.ok_or_else(|| D::Error::custom("the note is longer than ours are"))
}

fn url_safe(c: char) -> char {
    match c {
        '+' => '-',
        '/' => '_',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn a_record_returns_from_both_forms_and_foreign_text_is_left_alone() {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Anthropic, Part::State, "signature", "Eq/o+B==");
        let note = Fields::from_iter([("call".to_owned(), "c".into())]);
        let sealed = Sealed { provider: Some("anthropic".into()), model: None, note, data };
        assert_eq!(Sealed::from_text(&sealed.to_text()), Some(sealed.clone()));
        assert_eq!(Sealed::from_base64(&sealed.to_base64()), Some(sealed.clone()));
        let url_safe = sealed.to_base64().replace('+', "-").replace('/', "_");
        assert_eq!(Sealed::from_base64(url_safe.trim_end_matches('=')), Some(sealed));
        for foreign in ["", "EqoB", "ikg1.", "ikg1.!!", "skip_thought_signature_validator"] {
            assert_eq!((Sealed::from_text(foreign), Sealed::from_base64(foreign)), (None, None), "{foreign}");
        }
    }

    #[test]
    fn a_record_brings_in_nothing_but_state() {
        let text =
            r#"{"d":{"gemini":{"thought_signature":"s","extra":{"a":1},"response":{"b":1},"shape":{"c":1},"x":1}}}"#;
        let sealed = Sealed::from_text(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(text))).unwrap();
        let mut state = ProviderData::default();
        state.set_part(Dialect::Gemini, Part::State, "thought_signature", "s");
        assert_eq!(sealed, Sealed { provider: None, model: None, note: Fields::default(), data: state });
    }
}
