//! Cache hints: at most four on this API, and the long-lived ones first.

use std::collections::HashMap;

use serde_json::Value;

use crate::{Block, CacheHint, Loss, Request, Tool};

use super::super::DIALECT;
use super::super::block::write_cache;
use super::super::place::Place;

/// The most cache breakpoints of a request.
const MOST: usize = 4;

/// What becomes of each hint of a request.
#[derive(Debug)]
pub(super) enum Hints {
    /// All go on the wire as they are.
    AsAsked,
    /// Only some, or not all as they are.
    Chosen {
        /// The hint that each place gets; none for those that are left out.
        hints: HashMap<Place, Option<CacheHint>>,
        /// Is there one that does not last an hour?
        has_short: bool,
    },
}

impl Hints {
    /// Chooses the hints that fit: the last one on the tools, the last one on the system prompt, the newest ones on
    /// the messages.
    pub(super) fn choose(request: &Request, losses: &mut Vec<Loss>) -> Self {
        let mut found: Vec<(Place, &CacheHint)> = Vec::new();
        let mut fixed = usize::from(automatic(request).is_some());
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => {
                    found.extend(function.cache.as_ref().map(|hint| (Place::Tool(index), hint)))
                }
                Tool::Other(tool) => fixed += usize::from(tool.other.data.value().get("cache_control").is_some()),
            }
        }
        for (index, block) in request.system.iter().enumerate() {
            collect(Place::System(index), block, &mut found, &mut fixed);
        }
        for (message, content) in request.messages.iter().map(|message| &message.content).enumerate() {
            for (index, block) in content.iter().enumerate() {
                collect(Place::Block(message, index), block, &mut found, &mut fixed);
            }
        }
        let kept = keep(&found, MOST.saturating_sub(fixed));
        let mut hints = HashMap::new();
        let mut has_short = false;
        for ((place, hint), keep) in found.into_iter().zip(kept) {
            let hint = match keep {
                true => Some(lifetime(hint, &place.to_string(), &mut has_short, losses)),
                false => {
                    let why = format!("this API takes {MOST} cache breakpoints; this one is left out");
                    losses.push(Loss::uncoded("cache", place.to_string(), why));
                    None
                }
            };
            hints.insert(place, hint);
        }
        Hints::Chosen { hints, has_short }
    }

    /// Is there a hint that does not last an hour?
    pub(super) fn has_short(&self) -> bool {
        matches!(self, Hints::Chosen { has_short: true, .. })
    }

    /// The `cache_control` of one place.
    pub(super) fn at(&self, place: Place, hint: Option<&CacheHint>) -> Option<Value> {
        let hint = hint?;
        match self {
            Hints::AsAsked => Some(write_cache(hint)),
            Hints::Chosen { hints, .. } => match hints.get(&place) {
                Some(chosen) => chosen.as_ref().map(write_cache),
                None => Some(write_cache(hint)),
            },
        }
    }
}

/// The hint for the whole request.
pub(super) fn automatic(request: &Request) -> Option<&CacheHint> {
    request.cache.as_ref()?.automatic.as_ref()
}

fn collect<'a>(place: Place, block: &'a Block, found: &mut Vec<(Place, &'a CacheHint)>, fixed: &mut usize) {
    if let Block::ToolResult(result) = block {
        for (index, inner) in result.content.iter().enumerate() {
            collect(place.inner(index), inner, found, fixed);
        }
    }
    if let Block::Other(other) = block
        && other.dialect == DIALECT
    {
        *fixed += usize::from(other.data.value().get("cache_control").is_some());
    }
    found.extend(block.cache().map(|hint| (place, hint)));
}

/// Which of the hints are kept when there is room for so many.
fn keep(found: &[(Place, &CacheHint)], mut room: usize) -> Vec<bool> {
    if found.len() <= room {
        return vec![true; found.len()];
    }
    let mut kept = vec![false; found.len()];
    let last = |is: fn(&Place) -> bool| found.iter().rposition(|(place, _)| is(place));
    let firm = [last(|place| matches!(place, Place::Tool(_))), last(|place| matches!(place, Place::System(_)))];
    let in_messages = found.iter().enumerate().rev().filter(|(_, (place, _))| is_in_messages(place));
    for index in firm.into_iter().flatten().chain(in_messages.map(|(index, _)| index)) {
        if room > 0
            && let Some(kept) = kept.get_mut(index)
        {
            *kept = true;
            room -= 1;
        }
    }
    kept
}

fn is_in_messages(place: &Place) -> bool {
    matches!(place, Place::Message(_) | Place::Block(..) | Place::Inner(..))
}

/// The hint with a lifetime that the API takes here: `5m` or `1h`, and no `1h` behind a shorter one.
pub(super) fn lifetime(hint: &CacheHint, place: &str, has_short: &mut bool, losses: &mut Vec<Loss>) -> CacheHint {
    match hint.ttl.as_deref() {
        Some("1h") if *has_short => {
            let why = "a one-hour entry behind a five-minute one is refused; the default lifetime is sent";
            losses.push(Loss::uncoded("cache.ttl", place, why));
            CacheHint::default()
        }
        Some("1h") => hint.clone(),
        None | Some("5m") => {
            *has_short = true;
            hint.clone()
        }
        Some(ttl) => {
            *has_short = true;
            let why = format!("this API knows the lifetimes 5m and 1h, not `{ttl}`; its default is sent");
            losses.push(Loss::uncoded("cache.ttl", place, why));
            CacheHint::default()
        }
    }
}
