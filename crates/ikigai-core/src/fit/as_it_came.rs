//! A request that goes back to the model and the dialect that it was written for: nothing in it is changed.

use std::borrow::Cow;

use super::thinking::Obstacles;
use super::tool_turn::is_unsigned_tool_turn;
use super::{Fitted, FittedFormat, FittedThinking, FittedTool, Fitting, Marks, Spelling};
use crate::wire::ToolNames;
use crate::{Error, Fields, OutputFormat};

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
        let cache = request.cache.as_ref();
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
            temperature: request.temperature,
            top_p: request.top_p,
            top_k: request.top_k,
            frequency_penalty: request.frequency_penalty,
            presence_penalty: request.presence_penalty,
            stop: Cow::Borrowed(&request.stop),
            seed: request.seed,
            output_format,
            thinking,
            cache_key: cache.and_then(|cache| cache.key.as_deref()).map(Cow::Borrowed),
            automatic_cache: cache.and_then(|cache| cache.automatic.clone()),
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
                FittedFormat::Schema {
                    format,
                    name: format.name.as_deref().map(Cow::Borrowed),
                    description: format.description.as_deref(),
                    schema: Cow::Borrowed(&format.schema),
                    strict: format.strict,
                }
            }
        }
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
