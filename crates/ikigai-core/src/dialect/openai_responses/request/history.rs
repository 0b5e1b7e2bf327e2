//! The model's side of a conversation to items: what it said, what it called, and the reasoning that goes back to it.

use super::conversation::{Item, Writer};
use crate::dialect::openai_responses::ME;
use crate::dialect::openai_responses::fields::{foreign, has_foreign_state, note_foreign_fields, own};
use crate::dialect::openai_responses::items::{self, Keep, OpenMessage};
use crate::{Block, Loss, Message, Other, ProviderData, StateScope, Text, ThinkingBlock, rules_for};

impl<'a> Writer<'a> {
    /// A message of the model: one item or several.
    pub(super) fn of_model(&mut self, message: &'a Message, place: &str) {
        let keep = match (self.reads_state_of(message), self.faithful) {
            (true, true) => Keep::Everything,
            (true, false) => Keep::History,
            (false, _) => Keep::Nothing,
        };
        self.close();
        for (index, block) in message.content.iter().enumerate() {
            let place = format!("{place}.content[{index}]");
            if let Block::Text(text) = block {
                self.text_of_model(text, keep, &place);
                continue;
            }
            self.close();
            match block {
                Block::Thinking(thinking) => self.thinking(thinking, message, keep, &place),
                Block::ToolCall(call) => {
                    self.note_state(&call.provider_data, &place);
                    if call.cache.is_some() {
                        self.note_cache_hint(&place);
                    }
                    self.items.push(Item::of_model(items::call(call, self.calls.get(&call.id), keep)));
                }
                Block::ToolResult(result) => self.result(result, &place),
                Block::Other(other) => self.item_of_model(other, keep, &place),
                Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                    let why = "the model's own messages hold text alone here; it was left out";
                    let what = match block {
                        Block::Image(_) => "image",
                        Block::Document(_) => "document",
                        _ => "audio",
                    };
                    self.losses.push(Loss::new(what, place, why));
                }
                Block::Text(_) => {}
            }
        }
        self.close();
    }

    fn text_of_model(&mut self, text: &Text, keep: Keep, place: &str) {
        self.note_state(&text.provider_data, place);
        if text.cache.is_some() {
            self.note_cache_hint(place);
        }
        if items::begins_item(text) {
            self.close();
        }
        let message = self.open.get_or_insert_with(|| OpenMessage::new(text, keep));
        message.push(items::output_part(text, keep));
    }

    pub(super) fn close(&mut self) {
        if let Some(message) = self.open.take() {
            self.items.push(Item::of_model(message.close()));
        }
    }

    fn item_of_model(&mut self, other: &Other, keep: Keep, place: &str) {
        if other.dialect != ME {
            return self.note_foreign_block(other, place);
        }
        if keep == Keep::Nothing {
            let why = "an item that another provider or model made; it was left out";
            self.losses.push(Loss::new("other", place, why));
            return;
        }
        let is_reference = other.data.get("type").is_some_and(|kind| kind == "item_reference");
        if is_reference && !self.faithful && !self.stored {
            let why = "a reference to an item that the server has not stored is refused; it was left out";
            self.losses.push(Loss::new("other", place, why));
            return;
        }
        self.items.extend(other.data.as_object().map(|item| Item::of_model(item.clone())));
    }

    /// Signatures of other dialects on texts and calls.
    fn note_state(&mut self, data: &ProviderData, place: &str) {
        note_foreign_fields(data, place, &mut self.losses);
        if has_foreign_state(data) {
            self.losses.push(Loss::new("thinking", place, "thinking state of another provider; it stays behind"));
        }
    }

    fn thinking(&mut self, block: &ThinkingBlock, message: &Message, keep: Keep, place: &str) {
        let data = &block.provider_data;
        if foreign(data).next().is_some() {
            self.losses.push(Loss::new("thinking", place, "thinking state of another provider; it stays behind"));
            return;
        }
        if own(data).is_some() && keep == Keep::Nothing {
            let by = [message.provider.as_deref(), message.model.as_deref()];
            let by: Vec<&str> = by.into_iter().flatten().collect();
            let why = format!("its state was issued by {} and can be read only there; it stays behind", by.join(" "));
            self.losses.push(Loss::new("thinking", place, why));
            return;
        }
        let sealed = data.value(ME, "encrypted_content").is_some();
        let by_id = data.value(ME, "id").is_some() && (self.faithful || self.stored);
        // Open models take their reasoning back as they gave it.
        let in_words = data.value(ME, "content").is_some() && (self.faithful || self.target.quirks.responses.no_store);
        let as_read = self.faithful && own(data).is_some();
        if sealed || by_id || in_words || as_read {
            let reasoning = Some(place.to_owned());
            self.items.push(Item { wire: items::reasoning(block, keep), of_model: true, reasoning });
        } else {
            let why = "reasoning goes back only as the provider encrypted it, and this has none; it was left out";
            self.losses.push(Loss::new("thinking", place, why));
        }
    }

    /// Can the target read the state in a message?
    fn reads_state_of(&self, message: &Message) -> bool {
        let rules = self.target.rules;
        let provider = message.provider.as_deref().is_none_or(|provider| provider == self.target.provider);
        let Some(model) = message.model.as_deref().filter(|_| provider) else { return provider };
        match rules.bound_state {
            StateScope::Provider => true,
            StateScope::Family => rules_for(model).family == rules.family,
            StateScope::Model => without_date(model) == without_date(&self.request.model),
        }
    }

    /// Reasoning must stand before what it led to. Where that never came, as in an answer that was cut off, it is refused.
    pub(super) fn drop_reasoning_that_led_nowhere(&mut self) {
        let mut led = false;
        let mut kept: Vec<Item> = Vec::with_capacity(self.items.len());
        for mut item in std::mem::take(&mut self.items).into_iter().rev() {
            match item.reasoning.take_if(|_| !led) {
                Some(place) => {
                    let why = "reasoning without the item that it led to is refused; it was left out";
                    self.losses.push(Loss::new("thinking", place, why));
                }
                None => {
                    led = item.of_model;
                    kept.push(item);
                }
            }
        }
        kept.reverse();
        self.items = kept;
    }
}

/// A model's id without the date behind it: `-2025-08-07` or `-20250807`.
fn without_date(model: &str) -> &str {
    let Some((rest, tail)) = model.rsplit_once('-') else { return model };
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|c| c.is_ascii_digit());
    if digits(tail, 8) {
        return rest;
    }
    let Some((rest, month)) = rest.rsplit_once('-') else { return model };
    match rest.rsplit_once('-') {
        Some((rest, year)) if digits(tail, 2) && digits(month, 2) && digits(year, 4) => rest,
        _ => model,
    }
}
