//! A request on its way, and the answer that comes of it.

use std::future::Future;
use std::pin::Pin;

use ikigai::{AnswerStream, Event, Loss, Message, Model, Response, Severity};
use ikigai_core::LossCode;

/// A request on its way, or the answer that comes of it.
pub(crate) enum Flow {
    /// It is on its way.
    Opening(Pin<Box<dyn Future<Output = Result<AnswerStream, ikigai::Error>> + Send>>),
    /// The answer comes.
    Open(Box<AnswerStream>),
}

impl Flow {
    /// Asks.
    pub(crate) fn open(model: Model, history: Vec<Message>) -> Self {
        Flow::Opening(Box::pin(async move { model.stream(history).await }))
    }

    /// The next event; none at the end. It may be given up and called again, but not after an error.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ikigai::Error> {
        if let Flow::Opening(opening) = self {
            let stream = opening.as_mut().await?;
            *self = Flow::Open(Box::new(stream));
        }
        match self {
            Flow::Open(stream) => stream.next_event().await,
            Flow::Opening(_) => Ok(None),
        }
    }

    /// What has come of the answer that is being written, or of the last one.
    pub(crate) fn so_far(&self) -> Option<Response> {
        match self {
            Flow::Open(stream) => Some(stream.so_far().clone()),
            Flow::Opening(_) => None,
        }
    }
}

/// A loss for people: what became of it, and what and why. The place is told where the name does not say it.
pub(crate) fn told(loss: &Loss) -> (&'static str, String) {
    let word = match (loss.severity, loss.code) {
        (Severity::Info, _) => "note:",
        (
            _,
            LossCode::Changed
            | LossCode::Renamed
            | LossCode::OutOfRange
            | LossCode::Discouraged
            | LossCode::Inconsistent,
        ) => "changed:",
        // Codes that are yet to come are of this kind, too: something is missing.
        _ => "dropped:",
    };
    let place =
        if loss.place == loss.what || loss.place.is_empty() { String::new() } else { format!(" at {}", loss.place) };
    (word, format!("{}{place} ({})", loss.what, reason(loss)))
}

/// Why, without the words that say once more that it is missing.
fn reason(loss: &Loss) -> &str {
    let why = loss.why.strip_suffix("; it is left out").or_else(|| loss.why.strip_suffix("; left out"));
    why.unwrap_or(&loss.why)
}

/// What a request could not carry, the same thing at several places once.
pub(crate) fn lost(warnings: &[Loss]) -> Vec<String> {
    losses(warnings).into_iter().map(|(words, _)| words).collect()
}

/// The same, with at how many places.
pub(crate) fn losses(warnings: &[Loss]) -> Vec<(String, usize)> {
    let losses = warnings.iter().filter(|loss| loss.severity == Severity::Loss);
    let mut all: Vec<(String, usize)> = Vec::new();
    for loss in losses {
        let told = format!("{} {} ({})", told(loss).0, loss.what, reason(loss));
        match all.iter_mut().find(|(words, _)| *words == told) {
            Some((_, count)) => *count += 1,
            None => all.push((told, 1)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_loss_says_what_became_of_it() {
        let dropped =
            Loss::new(LossCode::RefusedByModel, "temperature", "temperature", "this model does not accept it");
        let renamed = Loss::new(LossCode::Renamed, "name", "tools[0]", "this API wants fewer letters");
        let known = Loss::new(LossCode::NotInDialect, "seed", "seed", "this API has no such parameter; it is left out");
        let all = [&dropped, &renamed, &known].map(told);
        assert_eq!(
            all.map(|(word, text)| format!("{word} {text}")),
            [
                "dropped: temperature (this model does not accept it)",
                "changed: name at tools[0] (this API wants fewer letters)",
                "dropped: seed (this API has no such parameter)",
            ]
        );
        let twice = [dropped.clone(), dropped, known];
        assert_eq!(
            losses(&twice),
            [
                ("dropped: temperature (this model does not accept it)".to_owned(), 2),
                ("dropped: seed (this API has no such parameter)".to_owned(), 1)
            ]
        );
    }
}
