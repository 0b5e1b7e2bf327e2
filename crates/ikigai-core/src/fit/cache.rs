//! Cache keys, and cache marks on single parts.

use std::borrow::Cow;

use super::abilities::{AutomaticTaken, CacheMarks, MarkRule, MarkTtl};
use super::ids::fnv;
use super::{Fitting, Place, converse};
use crate::{Block, CacheHint, Loss, LossCode, Role, Tool};

/// The reason given if prompts are cached only on request.
const NOT_CACHED: &str = "this model is not known to cache them on request; the hints are left out";

/// The cache marks that a request sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Marks {
    /// All hints, unchanged.
    AsAsked,
    /// Only these.
    Chosen(Vec<(Place, CacheHint)>),
}

impl Marks {
    /// Returns the mark for one place, whose hint is `hint`.
    pub(crate) fn at<'m>(&'m self, place: Place, hint: Option<&'m CacheHint>) -> Option<&'m CacheHint> {
        match self {
            Marks::AsAsked => hint,
            Marks::Chosen(marks) => hint.and(marks.iter().find(|(at, _)| *at == place).map(|(_, hint)| hint)),
        }
    }

    /// Returns whether a request has marks.
    pub(crate) fn any(&self) -> bool {
        match self {
            Marks::AsAsked => false,
            Marks::Chosen(marks) => !marks.is_empty(),
        }
    }
}

/// A hint found in the request.
struct Found<'a> {
    place: Place,
    hint: &'a CacheHint,
    /// A mark is allowed here.
    fits: bool,
}

impl<'a> Fitting<'a> {
    /// Returns the key of the prompt cache.
    pub(super) fn cache_key(&mut self) -> Option<Cow<'a, str>> {
        let key = self.request.cache.as_ref()?.key.as_deref()?;
        let Some(longest) = self.abilities.longest_cache_key else {
            let why = "this API has no cache keys: it finds cached prompts by their content";
            self.losses.push(Loss::info(LossCode::NotInDialect, "cache", "cache.key", why));
            return None;
        };
        if key.chars().count() <= longest {
            return Some(Cow::Borrowed(key));
        }
        let why = format!("keys have up to {longest} characters here; a shortened one is sent");
        self.losses.push(Loss::info(LossCode::Changed, "cache", "cache.key", why));
        let begin: String = key.chars().take(longest.saturating_sub(17)).collect();
        Some(Cow::Owned(format!("{begin}-{:016x}", fnv(key))))
    }

    /// Returns the hint for the whole prompt.
    pub(super) fn automatic_cache(&mut self, marks: &Marks) -> Option<CacheHint> {
        let hint = self.request.cache.as_ref()?.automatic.as_ref()?;
        let place = "cache.automatic";
        let by_itself = "prompts are cached automatically here; nothing is sent";
        let Some(ability) = self.abilities.automatic_cache else {
            self.losses.push(Loss::info(LossCode::NotInDialect, "cache", place, by_itself));
            return None;
        };
        match (ability.taken, hint.ttl.as_deref()) {
            (AutomaticTaken::AsMark, _) if !self.takes_marks() => {
                self.losses.push(Loss::new(LossCode::RefusedByModel, "cache", place, NOT_CACHED));
                None
            }
            (AutomaticTaken::AsMark, _) => {
                let mut has_short = match marks {
                    Marks::AsAsked => false,
                    Marks::Chosen(marks) => marks.iter().any(|(_, hint)| hint.ttl.as_deref() != Some("1h")),
                };
                Some(self.lifetime(hint, place, &mut has_short))
            }
            (AutomaticTaken::Ttl, Some(ttl)) if self.rules.cache_breakpoints && ability.ttls.contains(&ttl) => {
                Some(hint.clone())
            }
            (AutomaticTaken::Ttl, Some(_)) => {
                let why = "the lifetime of a cached prompt cannot be chosen like this here; the provider decides";
                self.losses.push(Loss::info(LossCode::NotInDialect, "cache", "cache.automatic.ttl", why));
                None
            }
            (AutomaticTaken::Ttl, None) => {
                self.losses.push(Loss::info(LossCode::NotInDialect, "cache", place, by_itself));
                None
            }
        }
    }

    /// Returns whether the model accepts marks at all, if prompts are cached only on request.
    fn takes_marks(&self) -> bool {
        !matches!(self.abilities.cache_marks, CacheMarks::Model(_)) || self.rules.cache_breakpoints
    }

    /// Chooses the hints that fit: the last one on the tools, the last one on the system prompt, the newest ones on the
    /// messages.
    pub(super) fn marks(&mut self) -> Marks {
        let rule = match self.abilities.cache_marks {
            CacheMarks::Never => None,
            CacheMarks::Always(rule) => Some(rule),
            CacheMarks::Model(rule) => self.rules.cache_breakpoints.then_some(rule),
            CacheMarks::ProviderOrModel { provider, .. } if self.quirks.chat.cache_control => Some(provider),
            CacheMarks::ProviderOrModel { model, .. } => self.rules.cache_breakpoints.then_some(model),
        };
        let rule = match self.goes_by_converse_fields() {
            true => rule.map(|rule| converse::marks(rule, &self.rules)),
            false => rule,
        };
        let (found, fixed) = self.hints(rule);
        if found.iter().any(|found| !found.fits) {
            self.note_hints(&found);
        }
        let Some(rule) = rule else { return Marks::Chosen(Vec::new()) };
        let fitting: Vec<&Found<'_>> = found.iter().filter(|found| found.fits).collect();
        let kept = newest(&fitting, rule.most.saturating_sub(fixed));
        let mut chosen = Vec::new();
        let mut has_short = false;
        for (found, keep) in fitting.into_iter().zip(kept) {
            let place = found.place;
            if !keep {
                let why = format!("a request has at most {} cache marks; left out", rule.most);
                self.losses.push(Loss::new(LossCode::OutOfRange, "cache", place.to_string(), why));
                continue;
            }
            let hint = match (rule.ttl, &found.hint.ttl) {
                (MarkTtl::LongFirst, _) => self.lifetime(found.hint, &place.to_string(), &mut has_short),
                (MarkTtl::Any, _) | (MarkTtl::Unsaid, None) => found.hint.clone(),
                (MarkTtl::Unsaid, Some(_)) => {
                    self.note_lifetime(place);
                    CacheHint::default()
                }
            };
            chosen.push((place, hint));
        }
        Marks::Chosen(chosen)
    }

    /// Reports the hints that were added to a request that is sent as received, where its wire has no marks.
    pub(super) fn note_added_hints(&mut self) {
        let rule = match self.abilities.cache_marks {
            CacheMarks::Never => None,
            CacheMarks::Always(rule) | CacheMarks::Model(rule) => Some(rule),
            // Providers of this kind have marks in any place.
            CacheMarks::ProviderOrModel { .. } => return,
        };
        let (found, _) = self.hints(rule);
        self.note_hints(&found);
        for found in found.iter().filter(|found| found.fits && found.hint.ttl.is_some()) {
            if rule.is_some_and(|rule| rule.ttl == MarkTtl::Unsaid) {
                self.note_lifetime(found.place);
            }
        }
    }

    fn note_lifetime(&mut self, place: Place) {
        let why = "the lifetime of a single cached part cannot be chosen here";
        self.losses.push(Loss::info(LossCode::NotInDialect, "cache", format!("{place}.cache.ttl"), why));
    }

    /// Returns all hints of the request in the order of the prompt, and the number of existing marks.
    fn hints(&self, rule: Option<MarkRule>) -> (Vec<Found<'a>>, usize) {
        let request = self.request;
        let takes_automatic =
            self.abilities.automatic_cache.is_some_and(|ability| ability.taken == AutomaticTaken::AsMark);
        let automatic = request.cache.as_ref().is_some_and(|cache| cache.automatic.is_some());
        let mut fixed = usize::from(automatic && takes_automatic);
        let mut found = Vec::new();
        let marked = |other: &crate::Other| {
            let text = other.data.text();
            let is_marked = text.contains("\"cache_control\"") || text.contains("\"cachePoint\"");
            usize::from(other.dialect == self.dialect && is_marked)
        };
        for (index, tool) in request.tools.iter().enumerate() {
            match tool {
                Tool::Function(function) => found.extend(function.cache.as_ref().map(|hint| Found {
                    place: Place::Tool(index),
                    hint,
                    fits: rule.is_some_and(|rule| rule.tools.is_taken()),
                })),
                Tool::BuiltIn(tool) => found.extend(tool.cache().map(|hint| Found {
                    place: Place::Tool(index),
                    hint,
                    fits: rule.is_some_and(|rule| rule.tools.is_taken()),
                })),
                Tool::Other(tool) => fixed += marked(&tool.other),
            }
        }
        for (index, block) in request.system.iter().enumerate() {
            let place = Place::System(index);
            found.extend(block.cache().map(|hint| Found { place, hint, fits: rule.is_some() }));
        }
        for (at, message) in request.messages.iter().enumerate() {
            for (index, block) in message.content.iter().enumerate() {
                let place = Place::Block(at, index);
                if let Block::Other(other) = block {
                    fixed += marked(other);
                }
                if let Block::ToolResult(result) = block {
                    for (inner, block) in result.content.iter().enumerate() {
                        let fits = rule.is_some_and(|rule| rule.inside_results.is_taken());
                        let place = Place::Inner(at, index, inner);
                        found.extend(block.cache().map(|hint| Found { place, hint, fits }));
                    }
                }
                let is_turn =
                    message.role == Role::Assistant || matches!(block, Block::ToolCall(_) | Block::ToolResult(_));
                let fits = rule.is_some_and(|rule| !is_turn || rule.turns.is_taken());
                found.extend(block.cache().map(|hint| Found { place, hint, fits }));
            }
        }
        (found, fixed)
    }

    /// Reports once for each part of the request that its hints are not sent.
    fn note_hints(&mut self, found: &[Found<'_>]) {
        let part = |place: Place| match place {
            Place::Tool(_) => "tools",
            Place::System(_) => "system",
            Place::Message(_) | Place::Block(..) | Place::Inner(..) => "messages",
        };
        for name in ["tools", "system", "messages"] {
            let left = found.iter().filter(|found| !found.fits && part(found.place) == name).count();
            if left == 0 {
                continue;
            }
            self.losses.push(match self.abilities.automatic_cache.map(|ability| ability.taken) {
                Some(AutomaticTaken::AsMark) => Loss::new(LossCode::RefusedByModel, "cache", name, NOT_CACHED),
                Some(AutomaticTaken::Ttl) | None => {
                    let why = format!("prompts are cached automatically here; {left} of its cache hints are not sent");
                    Loss::info(LossCode::NotInDialect, "cache", name, why)
                }
            });
        }
    }

    /// Returns the hint with an accepted lifetime: `5m` or `1h`, and no `1h` after a shorter one.
    fn lifetime(&mut self, hint: &CacheHint, place: &str, has_short: &mut bool) -> CacheHint {
        let why = match hint.ttl.as_deref() {
            Some("1h") if *has_short => {
                "a one-hour entry after a five-minute one is refused; the default lifetime is sent"
            }
            Some("1h") => return hint.clone(),
            None | Some("5m") => {
                *has_short = true;
                return hint.clone();
            }
            Some(_) => "entries last 5m or 1h here; the default lifetime is sent",
        };
        *has_short = true;
        self.losses.push(Loss::new(LossCode::OutOfRange, "cache", format!("{place}.ttl"), why));
        CacheHint::default()
    }
}

/// Returns which of the hints are kept if there is room for only this many.
fn newest(found: &[&Found<'_>], mut room: usize) -> Vec<bool> {
    if found.len() <= room {
        return vec![true; found.len()];
    }
    let mut kept = vec![false; found.len()];
    let last = |is: fn(&Place) -> bool| found.iter().rposition(|found| is(&found.place));
    let firm = [last(|place| matches!(place, Place::Tool(_))), last(|place| matches!(place, Place::System(_)))];
    let in_messages = found
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, found)| matches!(found.place, Place::Message(_) | Place::Block(..) | Place::Inner(..)));
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
