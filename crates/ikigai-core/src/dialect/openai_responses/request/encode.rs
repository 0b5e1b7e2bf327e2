//! From canonical to the wire.

use serde_json::{Map, Value, json};

use super::items::Writer;
use super::messages::LIST;
use super::tools;
use crate::dialect::WireRequest;
use crate::dialect::hosted::INCLUDE;
use crate::dialect::losses::label;
use crate::dialect::openai_responses::abilities::VERBOSITY;
use crate::dialect::openai_responses::wire::{self, Item, Items, Many, put};
use crate::dialect::openai_responses::{DIALECT, thinking};
use crate::fit::{Fitted, FittedFormat, Spelling};
use crate::json::loose::read_raw;
use crate::json::wire::{Raw, Rest, Text};
use crate::{Block, Error, Fields, Json, Limits, Loss, LossCode, Part, Role};

/// Encodes a request.
///
/// # Errors
/// Currently none: everything that cannot be carried is a loss.
pub(crate) fn encode_request(fitted: &Fitted<'_>, _: &Limits) -> Result<WireRequest, Error> {
    let encoder = Encoder {
        fitted,
        extra: fitted.request.provider_data.part(DIALECT, Part::Extra),
        shape: fitted.request.provider_data.part(DIALECT, Part::Shape),
        losses: Vec::new(),
    };
    let (body, losses) = encoder.encode();
    Ok(WireRequest::new("/responses".to_owned(), &body, fitted, losses))
}

struct Encoder<'a> {
    fitted: &'a Fitted<'a>,
    extra: &'a Fields,
    shape: &'a Fields,
    losses: Vec<Loss>,
}

impl<'a> Encoder<'a> {
    fn encode(mut self) -> (wire::Request<'a>, Vec<Loss>) {
        let fitted = self.fitted;
        let request = fitted.request;
        let mut writer = Writer::new(fitted);
        let (instructions, items) = writer.write();
        self.losses.append(&mut writer.losses);
        let mut body = wire::Request {
            model: (!request.model.is_empty()).then(|| request.model.as_str().into()),
            instructions: instructions.map(Text::from),
            input: self.input(items),
            tools: fitted.tools.iter().map(|tool| tools::encode(tool, fitted.spelling)).collect(),
            tool_choice: None,
            reasoning: self.reasoning(),
            text: self.text(),
            max_output_tokens: fitted.max_output_tokens.map(|limit| Raw::of(&limit)),
            temperature: fitted.temperature.map(|value| self.number("temperature", value)),
            top_p: fitted.top_p.map(|value| self.number("top_p", value)),
            parallel_tool_calls: fitted.parallel_tool_calls,
            prompt_cache_key: fitted.cache_key.as_deref().map(Text::from),
            metadata: self.labels(),
            stream: request.stream,
            rest: self.extra.as_rest(),
        };
        let shared = fitted.shared.as_rest();
        body.rest.extend(shared.into_iter().filter(|(name, _)| name != VERBOSITY));
        self.tool_choice(&mut body);
        self.cache_options(&mut body.rest);
        if fitted.spelling == Spelling::Ours {
            self.statelessness(&mut body.rest);
        }
        (body, self.losses)
    }

    /// Returns the items, or just the text of a conversation that is nothing else.
    fn input(&self, items: Items<'a>) -> Many<'a, Item<'a>> {
        let written = self.shape.str("input");
        if written.as_deref() != Some(LIST)
            && items.len() == 1
            && let Some(text) = self.lone_text()
        {
            return Many::Text(text.into());
        }
        let unsaid = written.as_deref() == Some("absent") || self.extra.get("input").is_some();
        if items.is_empty() && unsaid { Many::Absent } else { Many::List(items) }
    }

    fn lone_text(&self) -> Option<&'a str> {
        let [message] = self.fitted.messages.as_slice() else { return None };
        let [block] = message.content.as_slice() else { return None };
        let Block::Text(text) = block.block.as_ref() else { return None };
        let alone = message.role == Role::User && message.message.provider_data.is_empty();
        (alone && text.cache.is_none() && text.provider_data.is_empty()).then_some(text.text.as_str())
    }

    /// Writes the thinking settings: as read while they say the same, otherwise as fitted. Other fields in the same
    /// object are kept.
    fn reasoning(&mut self) -> Option<Raw<'a>> {
        let (fitted, request) = (self.fitted, self.fitted.request);
        let raw = self.shape.get("reasoning");
        if fitted.spelling == Spelling::AsItCame && !fitted.thinking.must {
            let wish = request.thinking.as_ref()?;
            if let Some(raw) = raw
                && thinking::decode(&raw.into()).is_some_and(|(said, _)| said == *wish)
            {
                return Some(raw.into());
            }
            self.losses.extend(fitted.thinking.losses.iter().cloned());
        }
        let asked = raw.and_then(|raw| read_raw::<wire::Reasoning<'_>>(raw.raw())?.summary);
        let rest = self.extra.get("reasoning").and_then(|rest| rest.to::<Fields>().ok()).unwrap_or_default();
        thinking::encode(&fitted.thinking, asked.as_ref().map(Text::as_str), &rest)
    }

    fn tool_choice(&mut self, body: &mut wire::Request<'a>) {
        let raw = self.extra.get("tool_choice");
        let means = raw.and_then(|raw| tools::decode_choice(&raw.into()));
        match &self.fitted.tool_choice {
            Some(choice) if means.as_ref() == Some(choice) && self.fitted.names.is_empty() => {}
            Some(choice) => body.tool_choice = Some(Raw::of(&tools::encode_choice(choice))),
            None => {
                // A choice that only this dialect has. One with another meaning is no longer wanted.
                let said = raw.is_some_and(|raw| !raw.is_null()) && means.is_none();
                let refused = said && body.tools.is_empty() && self.fitted.spelling == Spelling::Ours;
                if refused {
                    let why = "it is refused without tools and is left out";
                    self.losses.push(Loss::new(LossCode::Conflict, "tool_choice", "tool_choice", why));
                }
                if refused || means.is_some() {
                    body.rest.retain(|(name, _)| name != "tool_choice");
                }
            }
        }
    }

    /// Writes the format of the answer, next to the other fields of `text`.
    fn text(&self) -> Option<Raw<'a>> {
        let format = self.fitted.output_format.as_ref().map(|format| match format {
            FittedFormat::Text => Json::from(json!({"type": "text"})),
            FittedFormat::Json => Json::from(json!({"type": "json_object"})),
            FittedFormat::Schema { format, name, description, schema, strict } => {
                let wire = wire::Format {
                    kind: Some("json_schema".into()),
                    name: name.as_deref().map(Text::from),
                    description: description.map(Text::from),
                    schema: Some(Raw::from(schema.as_ref())),
                    strict: *strict,
                    rest: format.provider_data.part(DIALECT, Part::Extra).as_rest(),
                };
                Json::of(&wire).unwrap_or_default()
            }
        });
        let verbosity = self.fitted.shared.get(VERBOSITY).cloned();
        if format.is_none() && verbosity.is_none() {
            return None;
        }
        let mut text = self.extra.get("text").and_then(|text| text.to::<Fields>().ok()).unwrap_or_default();
        for (name, value) in [("format", format), (VERBOSITY, verbosity)] {
            if let Some(value) = value {
                text.set(name, value);
            }
        }
        Some(Raw::of(&text))
    }

    /// Writes a number in its original spelling, if it is still the same.
    fn number(&self, name: &str, value: f64) -> Raw<'a> {
        let written = self.shape.get("numbers").and_then(|numbers| numbers.to::<Fields>().ok()?.remove(name));
        match written.filter(|written| written.to::<f64>().is_ok_and(|number| number == value)) {
            Some(written) => Raw::of(&written),
            None => Raw::of(&value),
        }
    }

    /// Writes the labels, which are strings here.
    fn labels(&mut self) -> Option<Raw<'a>> {
        let labels = &self.fitted.request.metadata;
        if labels.is_empty() {
            return None;
        }
        if self.fitted.spelling == Spelling::AsItCame || labels.values().all(Value::is_string) {
            return Some(Raw::of(labels));
        }
        let texts = labels.iter().map(|(name, value)| (name.clone(), label(name, value, &mut self.losses)));
        Some(Raw::of(&texts.collect::<Map<_, _>>()))
    }

    /// Writes the options of automatic caching: for how long, and whether parts mark where to cut the prompt.
    fn cache_options(&self, rest: &mut Rest<'a>) {
        const NAME: &str = "prompt_cache_options";
        let mut options = self.extra.get(NAME).and_then(|options| options.to::<Fields>().ok()).unwrap_or_default();
        let before = options.len();
        let ttl = self.fitted.automatic_cache.as_ref().and_then(|hint| hint.ttl.as_deref());
        let mode = self.fitted.marks.any().then_some("explicit");
        for (name, value) in [("ttl", ttl), ("mode", mode)] {
            if let Some(value) = value
                && options.get(name).is_none()
            {
                options.set(name, value);
            }
        }
        if options.len() > before {
            put(rest, NAME, &options);
        }
    }

    /// Makes the request stateless unless the caller says otherwise: nothing is stored, and the reasoning is returned
    /// encrypted.
    fn statelessness(&mut self, rest: &mut Rest<'a>) {
        if !self.fitted.takes.storage {
            return rest
                .retain(|(name, _)| !crate::dialect::openai_responses::ABILITIES.stored.contains(&name.as_ref()));
        }
        if self.extra.get("store").is_none() {
            put(rest, "store", &false);
        }
        if self.extra.get("include").is_some() {
            return;
        }
        let tools = self.shape.get(INCLUDE).and_then(|list| list.to::<Vec<String>>().ok()).unwrap_or_default();
        // A model known not to think refuses to return what it does not have.
        let thinking = self.fitted.takes.thinking.then(|| "reasoning.encrypted_content".to_owned());
        let included: Vec<String> = thinking.into_iter().chain(tools).collect();
        if !included.is_empty() {
            put(rest, "include", &included);
        }
    }
}

#[cfg(test)]
#[path = "encode_tests/mod.rs"]
mod tests;
