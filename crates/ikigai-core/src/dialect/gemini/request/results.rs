//! Tool results in a conversation being written.

use super::super::wire::Part;
use super::super::{DIALECT, content, result};
use super::messages::Writer;
use super::refuse;
use crate::fit::{FittedBlock, Place, Spelling};
use crate::json::wire::Text;
use crate::{Block, Error, Loss, LossCode, Part as DataPart, ToolResult};

impl<'a> Writer<'a, '_> {
    /// Writes a result as a part. Pictures and documents go inside if the model supports that, otherwise into `moved`.
    pub(super) fn result(
        &mut self,
        result: &'a ToolResult,
        fitted: &'a FittedBlock<'a>,
        moved: &mut Vec<Part<'a>>,
    ) -> Result<(usize, Part<'a>), Error> {
        let (place, spelling) = (fitted.place, self.fitted.spelling);
        let called = self.calls.get(result.tool_call_id.as_str()).copied();
        let shape = result.provider_data.part(DIALECT, DataPart::Shape);
        let kept = shape.str(result::NAME);
        let found = called.map(|called| called.name.into());
        let name = match spelling {
            Spelling::AsItCame => kept.or(found),
            Spelling::Ours => found.or(kept),
        };
        let Some(name) = name else {
            let id = &result.tool_call_id;
            let fault =
                format!("no call with the id `{id}` comes before this result, and the API wants the tool's name");
            return Err(refuse(place, &fault));
        };
        let own_id = || {
            let id = result.tool_call_id.as_str();
            Some(id).filter(|id| !id.is_empty() && !shape.flag(content::GENERATED) && self.fitted.takes.call_ids)
        };
        let id = match called {
            // In the client's own form, call and result each have their own id.
            Some(called) if spelling == Spelling::Ours => called.id,
            _ => own_id(),
        };
        let (media, texts) = self.inside(result, place, moved);
        if texts > 1 {
            let why = "a result is one value here; its texts are joined by blank lines";
            self.losses.push(Loss::info(LossCode::Changed, "tool_result", place.to_string(), why));
        }
        let mut part = result::encode(result, name, id, media);
        part.signature = self.signature(fitted).map(Text);
        content::dress(&mut part, &result.provider_data, spelling);
        Ok((called.map_or(usize::MAX, |called| called.order), part))
    }

    /// Returns the parts inside a result that are not text, and the number of texts.
    fn inside(&mut self, result: &'a ToolResult, place: Place, moved: &mut Vec<Part<'a>>) -> (Vec<Part<'a>>, usize) {
        let spelling = self.fitted.spelling;
        let (mut media, mut texts) = (Vec::new(), 0);
        for (index, block) in result.content.iter().enumerate() {
            let place = place.inner(index);
            let parts = match block {
                Block::Text(_) => {
                    texts += 1;
                    continue;
                }
                Block::Image(_) | Block::Audio(_) | Block::Document(_) => self.media(block, place),
                Block::Other(other) if other.dialect == DIALECT => content::whole(other).into_iter().collect(),
                // Already noted.
                Block::Other(_) => continue,
                Block::ToolCall(_)
                | Block::ToolResult(_)
                | Block::ProviderCall(_)
                | Block::ProviderResult(_)
                | Block::Thinking(_) => {
                    self.lost(LossCode::NotInDialect, "tool_result", place, "a result cannot hold this; left out");
                    continue;
                }
            };
            for mut part in parts {
                if let Some(data) = block.provider_data() {
                    content::dress(&mut part, data, spelling);
                }
                let inside = self.fitted.takes.media_in_results && fits_in_result(&part);
                if spelling == Spelling::AsItCame || inside {
                    media.push(part);
                } else {
                    let why = "this model does not take it inside a result; it follows the results as the user's";
                    self.lost(LossCode::Media, "tool_result", place, why);
                    moved.push(part);
                }
            }
        }
        (media, texts)
    }
}

/// Whether the API accepts media of this type inside a result. An unknown type is worth a try.
fn fits_in_result(part: &Part<'_>) -> bool {
    let media = part.inline_data.as_ref().or(part.file_data.as_ref());
    let mime_type = media.and_then(|media| media.mime_type.as_ref()).map(|mime| mime.as_str());
    mime_type
        .is_none_or(|mime| matches!(mime, "image/png" | "image/jpeg" | "image/webp" | "application/pdf" | "text/plain"))
}
