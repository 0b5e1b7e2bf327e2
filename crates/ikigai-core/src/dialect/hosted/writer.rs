//! Calls, results and citations as objects of one dialect.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::dialect::seal::{Answerer, Sealed};
use crate::dialect::{anthropic, gemini, openai_chat, openai_responses};
use crate::order::by_number;
use crate::span::Ruler;
use crate::{
    Block, BlockKind, Citation, Dialect, Fields, FoundSource, Json, Loss, LossCode, Part, ProviderCall, ProviderData,
    ProviderResult, Span,
};

use super::{Texts, is_half, our_id};

/// The field by which Anthropic identifies a passage of a result.
const INDEX: &str = "encrypted_index";

/// Writes the objects of one answer.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) to: Dialect,
    pub(super) answerer: Answerer,
    /// Calls that wait for their results, with their indices, where the wire has one object for both.
    waiting: HashMap<String, (usize, ProviderCall)>,
    /// How many calls had no id.
    unnamed: usize,
    pub(super) losses: Vec<Loss>,
}

impl Writer {
    pub(super) fn new(to: Dialect, answerer: Answerer) -> Self {
        Writer { to, answerer, waiting: HashMap::new(), unnamed: 0, losses: Vec::new() }
    }

    /// Returns the objects that replace a call or a result.
    pub(super) fn run(&mut self, index: usize, block: &Block) -> Vec<Json> {
        match block {
            // Some wires give neither calls nor results an id: consecutive ones belong together.
            Block::ProviderCall(call) if call.id.is_empty() => {
                self.unnamed += 1;
                let named = ProviderCall { id: self.unnamed.to_string(), ..call.clone() };
                self.named(index, &Block::ProviderCall(named))
            }
            Block::ProviderResult(result) if result.call_id.is_empty() => {
                let named = ProviderResult { call_id: self.unnamed.to_string(), ..result.clone() };
                self.named(index, &Block::ProviderResult(named))
            }
            block => self.named(index, block),
        }
    }

    fn named(&mut self, index: usize, block: &Block) -> Vec<Json> {
        if let Some(own) = block.wire(self.to) {
            return vec![own.clone()];
        }
        if is_half(block, self.to) {
            return Vec::new();
        }
        let sealed = self.seal(block);
        let written = match (self.to, block) {
            (Dialect::Anthropic, Block::ProviderCall(call)) => {
                let prefix = if call.server.is_some() { "mcptoolu_" } else { anthropic::hosted::CALL_ID };
                let carrier = sealed.map(anthropic::hosted::carrier);
                let call = anthropic::hosted::write_call(call, &our_id(prefix, &call.id));
                call.map(|call| carrier.into_iter().chain([call]).collect())
            }
            (Dialect::Anthropic, Block::ProviderResult(result)) => {
                let prefix =
                    if result.tool == crate::ProviderTool::Mcp { "mcptoolu_" } else { anthropic::hosted::CALL_ID };
                let carrier = sealed.map(anthropic::hosted::carrier);
                let result = anthropic::hosted::write_result(result, &our_id(prefix, &result.call_id));
                result.map(|result| carrier.into_iter().chain([result]).collect())
            }
            (Dialect::Gemini, Block::ProviderCall(call)) => {
                gemini::hosted::write_call(call, &our_id("", &call.id)).map(|part| vec![signed(part, sealed)])
            }
            (Dialect::Gemini, Block::ProviderResult(result)) => {
                gemini::hosted::write_result(result, &our_id("", &result.call_id))
                    .map(|part| vec![signed(part, sealed)])
            }
            (Dialect::OpenaiResponses, Block::ProviderCall(call)) => {
                self.waiting.insert(call.id.clone(), (index, call.clone()));
                return Vec::new();
            }
            (Dialect::OpenaiResponses, Block::ProviderResult(result)) => {
                let Some((at, call)) = self.waiting.remove(&result.call_id) else { return self.stray(index, result) };
                return self.item(at, &call, Some((index, result)));
            }
            _ => None,
        };
        // State without a field of its own is in the seal next to it.
        let carried = if written.is_some() { Carried::All } else { Carried::Nothing };
        self.tell_run(index, block.kind(), carried);
        written.unwrap_or_default().into_iter().map(Json::from).collect()
    }

    /// Returns the calls whose results never came.
    pub(super) fn rest(&mut self) -> Vec<(usize, Json)> {
        let mut waiting: Vec<(usize, ProviderCall)> = std::mem::take(&mut self.waiting).into_values().collect();
        by_number(&mut waiting, |(index, _)| *index);
        let items = waiting.into_iter().flat_map(|(index, call)| {
            let item = self.item(index, &call, None);
            item.into_iter().map(move |item| (index, item))
        });
        items.collect()
    }

    fn item(&mut self, at: usize, call: &ProviderCall, result: Option<(usize, &ProviderResult)>) -> Vec<Json> {
        let item = openai_responses::hosted::write_item(call, result.map(|(_, result)| result));
        self.tell_run(at, BlockKind::ProviderCall, Carried::of(&call.provider_data, item.as_ref()));
        if let Some((index, result)) = result {
            self.tell_run(index, BlockKind::ProviderResult, Carried::of(&result.provider_data, item.as_ref()));
        }
        item.map(Json::from).into_iter().collect()
    }

    /// Writes a result whose call is in an earlier answer.
    fn stray(&mut self, index: usize, result: &ProviderResult) -> Vec<Json> {
        let call = ProviderCall { id: result.call_id.clone(), tool: result.tool, ..ProviderCall::default() };
        self.item(index, &call, Some((index, result)))
    }

    fn tell_run(&mut self, index: usize, kind: BlockKind, carried: Carried) {
        let place = format!("content[{index}]");
        self.losses.push(match carried {
            Carried::All => {
                let why = "another provider's tool ran it; it is rewritten as this API's, as far as it has fields";
                Loss::info(LossCode::Changed, kind.as_str(), place, why)
            }
            Carried::Part => {
                let why =
                    "another provider's tool ran it; it is rewritten as this API's, without what has no field there";
                Loss::new(LossCode::Changed, kind.as_str(), place, why)
            }
            Carried::Nothing => {
                let why = "this API has no form for what another provider's tool did; left out";
                Loss::new(LossCode::ForeignContent, kind.as_str(), place, why)
            }
        });
    }

    fn seal(&self, block: &Block) -> Option<Sealed> {
        let slots = matches!(self.to, Dialect::Anthropic | Dialect::Gemini);
        let data = block.provider_data().filter(|_| slots)?;
        Sealed::of(data, block.kind(), self.to, &self.answerer)
    }

    /// Writes the citations of an Anthropic text block, or of a part of it.
    pub(super) fn anthropic(&mut self, index: usize, citations: &[&Citation]) -> Vec<Json> {
        self.write(index, citations, anthropic::hosted::write_citation)
    }

    /// Writes the annotations of a Responses API text block.
    pub(super) fn annotations(&mut self, index: usize, citations: &[&Citation], ruler: &Ruler) -> Vec<Json> {
        self.write(index, citations, |citation| openai_responses::hosted::write_citation(citation, ruler))
    }

    fn write(
        &mut self,
        index: usize,
        citations: &[&Citation],
        write: impl Fn(&Citation) -> Option<Value>,
    ) -> Vec<Json> {
        let to = self.to;
        let written =
            citations.iter().map(|citation| citation.wire(to).cloned().or_else(|| write(citation).map(Json::from)));
        let written: Vec<Option<Json>> = written.collect();
        self.tell(index, citations, &written);
        written.into_iter().flatten().collect()
    }

    /// Reports what happened to citations from other dialects.
    fn tell(&mut self, index: usize, citations: &[&Citation], written: &[Option<Json>]) {
        let foreign = || citations.iter().zip(written).filter(|(citation, _)| citation.wire(self.to).is_none());
        if foreign().next().is_none() {
            return;
        }
        let place = || format!("content[{index}].citations");
        let lost = foreign().filter(|(_, written)| written.is_none()).count();
        let mut losses = Vec::new();
        if lost > 0 {
            let why = format!("{lost} of sources that this API has no citation for; left out");
            losses.push(Loss::new(LossCode::NotInDialect, "citations", place(), why));
        }
        let links = foreign().any(|(citation, _)| citation.marks == crate::Marks::Link);
        if self.to == Dialect::Anthropic && links {
            let why = "citations of this API have no marks; left out";
            losses.push(Loss::info(LossCode::NotInDialect, "marks", place(), why));
        }
        let mut unsaid: Vec<&str> = foreign().flat_map(|(citation, _)| self.unsaid(citation)).collect();
        unsaid.sort_unstable();
        unsaid.dedup();
        if !unsaid.is_empty() {
            let why = format!("citations of this API have no {}; left out", unsaid.join(", "));
            losses.push(Loss::new(LossCode::NotInDialect, "citations", place(), why));
        }
        let why = "rewritten for this API, as far as it has fields";
        losses.push(Loss::info(LossCode::Changed, "citations", place(), why));
        // A stream may report the same block more than once.
        losses.retain(|loss| !self.losses.contains(loss));
        self.losses.append(&mut losses);
    }

    /// Names what a foreign citation contains that has no field here.
    fn unsaid(&self, citation: &Citation) -> impl Iterator<Item = &'static str> {
        let quotes = matches!(self.to, Dialect::Anthropic | Dialect::OpenaiChat);
        let quoted = citation.cited_text.as_ref().is_some_and(|text| !text.is_empty());
        let placed = citation.location.is_some() && self.to != Dialect::Anthropic;
        let sealed = citation.wire(Dialect::Anthropic).is_some_and(|wire| wire.value().get(INDEX).is_some());
        let names = [("cited_text", quoted && !quotes), ("location", placed), (INDEX, sealed)];
        names.into_iter().filter(|(_, is_lost)| *is_lost).map(|(name, _)| name)
    }

    /// Returns what goes next to an answer with these citations, by the indices of their blocks, and these sources.
    pub(super) fn around(
        &mut self,
        cited: &[(usize, Citation)],
        sources: &[FoundSource],
        texts: &Texts,
        said: &str,
    ) -> ProviderData {
        let mut data = ProviderData::default();
        let by_block = |index: usize| cited.iter().filter(move |(at, _)| *at == index).map(|(_, citation)| citation);
        let mut told: Vec<usize> = cited.iter().map(|(index, _)| *index).collect();
        told.dedup();
        match self.to {
            Dialect::OpenaiChat => {
                let mut list: Vec<Json> = Vec::new();
                for (index, citation) in cited {
                    let span = texts.span_of(*index, citation);
                    let (start, end) = (texts.chars_before(span.start), texts.chars_before(span.end));
                    list.extend(openai_chat::hosted::write_citation(citation, start, end).map(Json::from));
                }
                list.extend(sources.iter().filter_map(openai_chat::hosted::write_source).map(Json::from));
                data.set_part(
                    self.to,
                    Part::Answer,
                    openai_chat::hosted::ANNOTATIONS,
                    Json::of(&list).unwrap_or_default(),
                );
                data.set_part(self.to, Part::Answer, "message.refusal", Json::null());
            }
            Dialect::Gemini => {
                let placed: Vec<(Span, Citation)> =
                    cited.iter().map(|(index, citation)| (texts.span_of(*index, citation), citation.clone())).collect();
                let grounding = gemini::hosted::write_grounding(&placed, sources, said);
                let fields = Fields::from_iter([
                    ("index".to_owned(), Json::from(serde_json::json!(0))),
                    ("groundingMetadata".to_owned(), Json::from(grounding)),
                ]);
                gemini::keep_candidate(&mut data, fields);
            }
            Dialect::Anthropic | Dialect::OpenaiResponses | Dialect::BedrockConverse => {}
        }
        for index in told {
            let citations: Vec<&Citation> = by_block(index).collect();
            let is_written = |citation: &&Citation| match self.to {
                Dialect::OpenaiChat => citation.source.as_url().is_some(),
                _ => citation.source != crate::CitedSource::Other,
            };
            let written: Vec<Option<Json>> =
                citations.iter().map(|citation| is_written(citation).then(Json::null)).collect();
            self.tell(index, &citations, &written);
        }
        self.tell_sources(sources);
        data
    }

    /// Returns the objects of a search that found these sources, for wires that have no other place for them. It
    /// includes the cited pages.
    pub(super) fn search(&mut self, cited: &Cited, sources: &[FoundSource]) -> Vec<Json> {
        if sources.is_empty() {
            return Vec::new();
        }
        self.tell_sources(sources);
        let loose = sources.iter().filter(|source| source.url.as_ref().is_none_or(|url| !cited.seen.contains(url)));
        let sources: Vec<FoundSource> = cited.pages.iter().chain(loose).cloned().collect();
        let sources = sources.as_slice();
        match self.to {
            Dialect::Anthropic => {
                let pair = anthropic::hosted::write_search(sources, &our_id(anthropic::hosted::CALL_ID, "sources"));
                pair.into_iter().map(Json::from).collect()
            }
            Dialect::OpenaiResponses => {
                vec![Json::from(openai_responses::hosted::write_search(sources, &our_id("ws_", "sources")))]
            }
            Dialect::OpenaiChat | Dialect::Gemini | Dialect::BedrockConverse => Vec::new(),
        }
    }

    fn tell_sources(&mut self, sources: &[FoundSource]) {
        if sources.is_empty() {
            return;
        }
        if sources.iter().any(|source| source.url.is_none() || source.snippet.is_some() || source.date.is_some()) {
            let why = "of sources, this API has the address and the title; the rest is left out";
            self.losses.push(Loss::info(LossCode::NotInDialect, "sources", "sources", why));
        }
    }
}

/// The pages that an answer cites, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Cited {
    pages: Vec<FoundSource>,
    seen: HashSet<String>,
}

impl Cited {
    pub(super) fn note(&mut self, citation: &Citation) {
        if let Some(url) = citation.source.as_url()
            && self.seen.insert(url.to_owned())
        {
            let title = citation.source.title().map(str::to_owned);
            self.pages.push(FoundSource { title, ..FoundSource::url(url) });
        }
    }
}

/// How much of what another provider's tool did could be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carried {
    All,
    Part,
    Nothing,
}

impl Carried {
    /// Compares a block's data with this item. Every value of the block's wire object counts, except its type and ids.
    fn of(data: &ProviderData, item: Option<&Value>) -> Self {
        let Some(item) = item else { return Carried::Nothing };
        let mut said = HashSet::new();
        visit("", item, &mut |_, value| {
            said.insert(value.to_string());
        });
        let kind = item["type"].as_str().unwrap_or_default();
        let mut carried = Carried::All;
        let mut check = |name: &str, value: &Value| {
            let is_frame = matches!(name, "type" | "id" | "tool_use_id" | "call_id")
                || name == "name" && value.as_str().is_some_and(|name| kind.starts_with(name));
            if !is_frame && !said.contains(&value.to_string()) {
                carried = Carried::Part;
            }
        };
        for (_, state) in data.parts(Part::State) {
            state.iter().for_each(|(name, value)| visit(name, value.value(), &mut check));
        }
        carried
    }
}

/// Calls `show` with every non-empty value and its name.
fn visit<'v>(name: &'v str, value: &'v Value, show: &mut dyn FnMut(&'v str, &'v Value)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| visit(name, value, show)),
        Value::Array(items) => items.iter().for_each(|item| visit(name, item, show)),
        Value::String(text) if text.is_empty() => {}
        Value::Null | Value::Bool(_) => {}
        Value::String(_) | Value::Number(_) => show(name, value),
    }
}

/// Adds another provider's state to a part, as its signature.
fn signed(mut part: Value, sealed: Option<Sealed>) -> Value {
    if let (Some(sealed), Some(fields)) = (sealed, part.as_object_mut()) {
        fields.insert("thoughtSignature".to_owned(), Value::String(sealed.to_base64()));
    }
    part
}
