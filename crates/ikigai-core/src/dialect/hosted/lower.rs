//! A whole answer, lowered for a client.

use std::borrow::Cow;

use crate::dialect::Reply;
use crate::dialect::seal::Answerer;
use crate::span::{Ruler, cut};
use crate::{Block, Citation, Dialect, Json, Loss, Other, Part, ProviderData, Response, Text};

use super::Texts;
use super::writer::{Cited, Writer};

/// An answer in which everything is a field or block of one dialect.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) response: Response,
    /// For each block, the index of the block that it is made from.
    origin: Vec<usize>,
    losses: Vec<Loss>,
}

impl Lowered {
    /// Combines the losses of both steps, with their places in the original answer.
    pub(crate) fn settle(self, losses: &mut Vec<Loss>) {
        losses.iter_mut().for_each(|loss| replace(loss, &self.origin));
        losses.splice(0..0, self.losses);
    }
}

/// Changes the place of a loss to the block that its block was made from.
pub(super) fn replace(loss: &mut Loss, origin: &[usize]) {
    let Some((number, rest)) = loss.place.strip_prefix("content[").and_then(|place| place.split_once(']')) else {
        return;
    };
    if let Some(index) = number.parse::<usize>().ok().and_then(|number| origin.get(number)) {
        loss.place = format!("content[{index}]{rest}");
    }
}

/// Lowers the answer for its writer. Returns `None` if there is nothing to do.
pub(crate) fn lower(response: &Response, to: Dialect, reply: &Reply) -> Option<Lowered> {
    let is_cited = |block: &Block| matches!(block, Block::Text(text) if !text.citations.is_empty());
    if response.sources.is_empty() && !response.content.iter().any(|block| block.is_provider_run() || is_cited(block)) {
        return None;
    }
    let mut writer = Writer::new(to, Answerer::new(reply, Some(&response.model)));
    let is_own = response.provider_data.is_of(to);
    let mut content: Vec<(usize, Block)> = Vec::with_capacity(response.content.len());
    if !is_own {
        let mut cited = Cited::default();
        response.citations().for_each(|(_, citation)| cited.note(citation));
        content.extend(writer.search(&cited, &response.sources).into_iter().map(|data| (0, whole(to, data))));
    }
    for (index, block) in response.content.iter().enumerate() {
        match block {
            Block::ProviderCall(_) | Block::ProviderResult(_) => {
                content.extend(writer.run(index, block).into_iter().map(|data| (index, whole(to, data))));
            }
            Block::Text(text) if !text.citations.is_empty() => {
                content.extend(texts(&mut writer, index, text).into_iter().map(|text| (index, Block::Text(text))));
            }
            block => content.push((index, block.clone())),
        }
    }
    content.extend(writer.rest().into_iter().map(|(index, data)| (index, whole(to, data))));
    let mut lowered = Response { content: Vec::new(), sources: Vec::new(), ..response.clone() };
    if matches!(to, Dialect::OpenaiChat | Dialect::Gemini) && !is_own {
        let cited: Vec<(usize, Citation)> = citations(&response.content);
        if !cited.is_empty() || !response.sources.is_empty() {
            let around = writer.around(&cited, &response.sources, &Texts::of(&response.content), &response.text());
            lowered.provider_data.merge(around);
        }
    }
    drop_carried(&mut lowered.provider_data, to);
    let origin = content.iter().map(|(index, _)| *index).collect();
    lowered.content = content.into_iter().map(|(_, block)| block).collect();
    Some(Lowered { response: lowered, origin, losses: writer.losses })
}

fn citations(content: &[Block]) -> Vec<(usize, Citation)> {
    let texts = content.iter().enumerate().filter_map(|(index, block)| match block {
        Block::Text(text) => Some((index, text)),
        _ => None,
    });
    texts.flat_map(|(index, text)| text.citations.iter().map(move |citation| (index, citation.clone()))).collect()
}

/// Removes another dialect's list of source URLs, which this one has by now written in its own way.
pub(super) fn drop_carried(data: &mut ProviderData, to: Dialect) {
    if to != Dialect::OpenaiChat {
        data.remove_part(Dialect::OpenaiChat, Part::Answer, "citations");
    }
}

/// Wraps an object to be written as is.
pub(super) fn whole(to: Dialect, data: Json) -> Block {
    Block::Other(Other { dialect: to, data })
}

/// The text blocks that a cited one becomes: it is cut on wires where a citation applies to a whole block.
fn texts(writer: &mut Writer, index: usize, text: &Text) -> Vec<Text> {
    let plain = Text { citations: Vec::new(), ..text.clone() };
    match writer.to {
        Dialect::Anthropic => {
            let spans: Vec<_> = text.citations.iter().map(|citation| citation.span).collect();
            let mut first = Some(plain);
            let pieces = cut(&text.text, &spans).into_iter().map(|(span, covering)| {
                let mut piece = first.take().unwrap_or_default();
                piece.text = text.text.get(span.start..span.end).unwrap_or_default().to_owned();
                let citations: Vec<&Citation> =
                    covering.iter().filter_map(|number| text.citations.get(*number)).collect();
                if !citations.is_empty() {
                    let list = writer.anthropic(index, &citations);
                    set_list(&mut piece.provider_data, writer.to, Part::Extra, "citations", &list);
                }
                piece
            });
            pieces.collect()
        }
        Dialect::OpenaiResponses => {
            let mut one = plain;
            let all: Vec<&Citation> = text.citations.iter().collect();
            let list = writer.annotations(index, &all, &Ruler::of(&text.text));
            set_list(&mut one.provider_data, writer.to, Part::Answer, "annotations", &list);
            vec![one]
        }
        Dialect::OpenaiChat | Dialect::Gemini | Dialect::BedrockConverse => vec![plain],
    }
}

pub(super) fn set_list(data: &mut ProviderData, to: Dialect, part: Part, name: &str, list: &[Json]) {
    if !list.is_empty() {
        data.set_part(to, part, name, Json::of(list).unwrap_or_default());
    }
}

/// Returns the lowered answer, or the original if nothing was lowered.
pub(crate) fn or_same<'a>(lowered: &'a Option<Lowered>, response: &'a Response) -> Cow<'a, Response> {
    Cow::Borrowed(lowered.as_ref().map_or(response, |lowered| &lowered.response))
}
