//! Citations of the caller's own documents, if they conflict with the output format.

use std::borrow::Cow;

use super::Place;
use crate::{Block, Dialect, Json, Loss, LossCode, OutputFormat, Part, Request};

/// The field that switches on the citations of a document.
const CITATIONS: &str = "citations";

/// Removes the citations of a request's documents if the target refuses them together with an output format. A request
/// that goes back as received is left unchanged.
pub(crate) fn settle<'a>(request: Cow<'a, Request>, dialect: Dialect, losses: &mut Vec<Loss>) -> Cow<'a, Request> {
    let formatted = matches!(request.output_format, Some(OutputFormat::JsonSchema(_)));
    let as_it_came =
        request.provider_data.part_str(dialect, Part::Shape, "model").as_deref() == Some(request.model.as_str());
    let both = dialect.abilities().schema_format.beside_citations.is_taken();
    if both || !formatted || as_it_came {
        return request;
    }
    let is_cited = |block: &Block| {
        let extra = block.provider_data().map(|data| data.part(dialect, Part::Extra));
        let switch = extra.and_then(|extra| extra.get(CITATIONS)).map(Json::value);
        matches!(block, Block::Document(_)) && switch.is_some_and(|switch| switch["enabled"] == true)
    };
    if !request.messages.iter().flat_map(|message| &message.content).any(is_cited) {
        return request;
    }
    let mut request = request.into_owned();
    for (message, found) in request.messages.iter_mut().enumerate() {
        for (block, document) in found.content.iter_mut().enumerate().filter(|(_, block)| is_cited(block)) {
            if let Some(data) = document.provider_data_mut() {
                data.remove_part(dialect, Part::Extra, CITATIONS);
            }
            let why = "this API cites no documents in an answer that follows a schema; switched off";
            losses.push(Loss::new(LossCode::Conflict, CITATIONS, Place::Block(message, block).to_string(), why));
        }
    }
    Cow::Owned(request)
}
