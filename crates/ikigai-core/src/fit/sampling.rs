//! Sampling, penalties, seed and stop sequences.

use std::borrow::Cow;

use super::abilities::{Seeds, TopK};
use super::{Fitting, converse};
use crate::catalog::Sampling;
use crate::provider::SeedField;
use crate::{Loss, LossCode};

/// The sampling parameters that are sent.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Sampled {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) top_k: Option<i64>,
    pub(super) frequency_penalty: Option<f64>,
    pub(super) presence_penalty: Option<f64>,
}

/// Why a parameter is not sent.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    code: LossCode,
    why: &'static str,
}

const NOT_HERE: Refusal = Refusal { code: LossCode::NotInDialect, why: "this API has no such parameter; left out" };
const NOT_TAKEN: Refusal = Refusal { code: LossCode::RefusedByModel, why: "this model does not accept it; left out" };
const NOT_WHILE_THINKING: Refusal =
    Refusal { code: LossCode::Conflict, why: "this model does not accept it while it thinks; left out" };
const NOT_BOTH: Refusal =
    Refusal { code: LossCode::Conflict, why: "this model accepts temperature or top_p, not both; left out" };

impl<'a> Fitting<'a> {
    /// Returns the sampling parameters that the model accepts. `thinks`: whether it will think.
    pub(super) fn sampling(&mut self, thinks: bool) -> Sampled {
        let request = self.request;
        let by_model = match self.rules.sampling {
            Sampling::Free | Sampling::Discouraged | Sampling::Ignored => None,
            Sampling::NotWhileThinking | Sampling::OneOf => thinks.then_some(NOT_WHILE_THINKING),
            Sampling::Refused => Some(NOT_TAKEN),
        };
        let temperature = self.temperature(by_model);
        let top_p = request.top_p.and_then(|top_p| {
            let is_near_one = top_p >= self.abilities.least_top_p_beside_thinking && top_p < 1.0;
            let refusal = match (self.rules.sampling, by_model) {
                (Sampling::NotWhileThinking | Sampling::OneOf, Some(_)) if is_near_one => None,
                (_, Some(refusal)) => Some(refusal),
                (Sampling::OneOf, None) if temperature.is_some() => Some(NOT_BOTH),
                (_, None) => None,
            };
            self.number("top_p", top_p, 1.0, refusal)
        });
        let top_k = request.top_k.filter(|_| {
            let refusal = match self.abilities.top_k {
                TopK::Missing => Some(NOT_HERE),
                TopK::Quirk if !self.quirks.chat.top_k => Some(NOT_HERE),
                _ if self.goes_by_converse_fields() && !converse::takes_top_k(&self.rules) => Some(NOT_TAKEN),
                TopK::Taken | TopK::Quirk => by_model,
            };
            self.is_sent("top_k", refusal, Usual::No)
        });
        let penalty = match (self.abilities.penalties.is_taken(), self.rules.penalties) {
            (false, _) => Some(NOT_HERE),
            (true, false) => Some(NOT_TAKEN),
            (true, true) => by_model,
        };
        let mut penalize = |name, value: Option<f64>| value.and_then(|value| self.number(name, value, 0.0, penalty));
        let frequency_penalty = penalize("frequency_penalty", request.frequency_penalty);
        let presence_penalty = penalize("presence_penalty", request.presence_penalty);
        Sampled { temperature, top_p, top_k, frequency_penalty, presence_penalty }
    }

    fn temperature(&mut self, refusal: Option<Refusal>) -> Option<f64> {
        let asked = self.request.temperature?;
        let sent = self.number("temperature", asked, 1.0, refusal)?;
        let greatest = self.abilities.greatest_temperature;
        if sent <= greatest {
            return Some(sent);
        }
        let why = format!("the highest temperature here is {greatest}, which is sent for {sent}");
        self.losses.push(Loss::new(LossCode::OutOfRange, "temperature", "temperature", why));
        Some(greatest)
    }

    /// Returns a number if it is sent. Omitting the usual value costs nothing.
    fn number(&mut self, name: &'static str, value: f64, usual: f64, refusal: Option<Refusal>) -> Option<f64> {
        let usual = if value == usual { Usual::Yes } else { Usual::No };
        self.is_sent(name, refusal, usual).then_some(value)
    }

    fn is_sent(&mut self, name: &'static str, refusal: Option<Refusal>, usual: Usual) -> bool {
        if let Some(Refusal { code, why }) = refusal {
            self.losses.push(match usual {
                Usual::Yes => Loss::info(code, name, name, why),
                Usual::No => Loss::new(code, name, name, why),
            });
            return false;
        }
        let remark = match self.rules.sampling {
            Sampling::Discouraged if usual == Usual::No => "the provider warns against any value but its own",
            Sampling::Ignored => "it has no effect on this model",
            Sampling::Discouraged
            | Sampling::Free
            | Sampling::NotWhileThinking
            | Sampling::OneOf
            | Sampling::Refused => return true,
        };
        self.losses.push(Loss::info(LossCode::Discouraged, name, name, remark));
        true
    }

    /// Returns the sampling parameters of a request that is sent as received. Only what was added to it since can have
    /// no field on this wire.
    pub(super) fn sampling_as_it_came(&mut self) -> Sampled {
        let (request, abilities) = (self.request, self.abilities);
        let mut penalty = |name, value: Option<f64>| match value {
            Some(value) if !abilities.penalties.is_taken() => self.number(name, value, 0.0, Some(NOT_HERE)),
            value => value,
        };
        let frequency_penalty = penalty("frequency_penalty", request.frequency_penalty);
        let presence_penalty = penalty("presence_penalty", request.presence_penalty);
        let is_missing = abilities.top_k == TopK::Missing;
        let top_k = request.top_k.filter(|_| !is_missing || self.is_sent("top_k", Some(NOT_HERE), Usual::No));
        let (temperature, top_p) = (request.temperature, request.top_p);
        Sampled { temperature, top_p, top_k, frequency_penalty, presence_penalty }
    }

    /// Returns the seed, if there is one and it can be sent.
    pub(super) fn seed(&mut self) -> Option<i64> {
        let seed = self.request.seed?;
        let refusal = match self.abilities.seed {
            Seeds::None => Some((NOT_HERE.code, NOT_HERE.why)),
            Seeds::Bits32 if i32::try_from(seed).is_err() => {
                Some((LossCode::OutOfRange, "seeds have 32 bits here; left out"))
            }
            Seeds::Bits32 | Seeds::Bits64 => match self.quirks.chat.seed {
                SeedField::Nothing => Some((LossCode::RefusedByProvider, "this provider accepts no seed; left out")),
                SeedField::Seed | SeedField::RandomSeed => None,
            },
        };
        let Some((code, why)) = refusal else { return Some(seed) };
        self.losses.push(Loss::new(code, "seed", "seed", why));
        None
    }

    /// Returns the stop sequences that are accepted.
    pub(super) fn stop(&mut self) -> Cow<'a, [String]> {
        let stop = self.request.stop.as_slice();
        let rule = self.abilities.stop;
        if stop.is_empty() {
            return Cow::Borrowed(stop);
        }
        let refusal = match (rule.most, self.rules.stop) {
            (0, _) => Some((LossCode::NotInDialect, "this API has no stop sequences; left out")),
            (_, false) => Some((LossCode::RefusedByModel, "this model accepts no stop sequences; left out")),
            (_, true) => None,
        };
        if let Some((code, why)) = refusal {
            self.losses.push(Loss::new(code, "stop", "stop", why));
            return Cow::Borrowed(&[]);
        }
        let is_blank = |text: &String| text.trim().is_empty();
        let mut taken = Cow::Borrowed(stop);
        if !rule.blank.is_taken() && stop.iter().any(is_blank) {
            taken = Cow::Owned(stop.iter().filter(|text| !is_blank(text)).cloned().collect());
            let why = "blank stop sequences are refused here; left out";
            self.losses.push(Loss::new(LossCode::NotInDialect, "stop", "stop", why));
        }
        if taken.len() > rule.most {
            let why = format!("only {} stop sequences are accepted here; the first ones are sent", rule.most);
            self.losses.push(Loss::new(LossCode::OutOfRange, "stop", "stop", why));
            taken.to_mut().truncate(rule.most);
        }
        taken
    }
}

/// Whether a value is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    Yes,
    No,
}
