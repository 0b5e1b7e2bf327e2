//! A request that goes back to the model and the dialect that it was written for: nothing in it is changed.

use std::borrow::Cow;

use super::abilities::{AutomaticCache, AutomaticTaken, Seeds, Support};
use super::thinking::Obstacles;
use super::tool_turn::is_unsigned_tool_turn;
use super::{Fitted, FittedFormat, FittedThinking, FittedTool, Fitting, Marks, Spelling};
use crate::wire::ToolNames;
use crate::{CacheHint, Error, Fields, OutputFormat};

impl<'a> Fitting<'a> {
    /// Leaves everything unchanged except what belongs to others: their state, their blocks, their tools.
    pub(super) fn unfitted(mut self) -> Result<Fitted<'a>, Error> {
        let request = self.request;
        let conversation = self.conversation(None);
        let tools = self.tools_as_they_came();
        let output_format = request.output_format.as_ref().map(|format| self.format_as_it_came(format));
        self.foreign_fields(&request.provider_data, "provider_data");
        let broken = conversation.lost_thinking && is_unsigned_tool_turn(&conversation.messages);
        let thinking = self.thinking_as_it_came(&tools, broken)?;
        let sampled = self.sampling_as_it_came();
        // What this wire has no field for was added to the request since.
        let stop = if self.abilities.stop.most == 0 { self.stop() } else { Cow::Borrowed(request.stop.as_slice()) };
        let seed = if self.abilities.seed == Seeds::None { self.seed() } else { request.seed };
        let (cache_key, automatic_cache) = self.cache_as_it_came();
        self.note_added_hints();
        Ok(Fitted {
            request,
            target: self.target,
            spelling: Spelling::AsItCame,
            system: conversation.system,
            messages: conversation.messages,
            tools,
            tool_choice: request.tool_choice.clone(),
            parallel_tool_calls: request.parallel_tool_calls,
            max_output_tokens: request.max_output_tokens,
            temperature: sampled.temperature,
            top_p: sampled.top_p,
            top_k: sampled.top_k,
            frequency_penalty: sampled.frequency_penalty,
            presence_penalty: sampled.presence_penalty,
            stop,
            seed,
            output_format,
            thinking,
            cache_key,
            automatic_cache,
            marks: Marks::AsAsked,
            shared: Fields::default(),
            takes: self.takes(),
            names: ToolNames::default(),
            losses: self.losses,
        })
    }

    fn format_as_it_came(&mut self, format: &'a OutputFormat) -> FittedFormat<'a> {
        match format {
            OutputFormat::Text => FittedFormat::Text,
            OutputFormat::Json => FittedFormat::Json,
            OutputFormat::JsonSchema(format) => {
                self.foreign_fields(&format.provider_data, "output_format");
                let (name, description) = match self.abilities.schema_format.labels {
                    Support::Taken => (format.name.as_deref().map(Cow::Borrowed), format.description.as_deref()),
                    Support::Missing => self.labels(format),
                };
                FittedFormat::Schema {
                    format,
                    name,
                    description,
                    schema: Cow::Borrowed(&format.schema),
                    strict: format.strict,
                }
            }
        }
    }

    fn cache_as_it_came(&mut self) -> (Option<Cow<'a, str>>, Option<CacheHint>) {
        let Some(cache) = &self.request.cache else { return (None, None) };
        let key = match self.abilities.longest_cache_key {
            Some(_) => cache.key.as_deref().map(Cow::Borrowed),
            None => self.cache_key(),
        };
        let automatic = match self.abilities.automatic_cache {
            Some(AutomaticCache { taken: AutomaticTaken::AsMark, .. }) => cache.automatic.clone(),
            // A client of such a wire never asks for it in these terms.
            Some(_) | None => self.automatic_cache(&Marks::AsAsked),
        };
        (key, automatic)
    }

    /// Returns what the thinking settings become, for a request whose shape may still express them. `broken`: thinking
    /// was left out with which the tool turn must begin.
    fn thinking_as_it_came(&mut self, tools: &[FittedTool<'_>], broken: bool) -> Result<FittedThinking, Error> {
        let before = std::mem::take(&mut self.losses);
        let obstacles = Obstacles { unsigned_tool_turn: broken, prefill: false };
        let thinking = self.thinking(tools, &mut None, obstacles);
        let costs = std::mem::replace(&mut self.losses, before);
        let mut thinking = thinking?;
        thinking.must = broken && !thinking.thinks;
        if thinking.must {
            self.losses.extend(costs);
        } else {
            thinking.losses = costs;
        }
        Ok(thinking)
    }
}
