//! A request that is being sent, and its answer.

use std::future::Future;
use std::pin::Pin;

use ikigai::{AnswerStream, Event, Loss, Message, Model, Response, Severity};
use ikigai_core::LossCode;

/// A request that is being sent, or its answer.
pub(crate) enum Flow {
    /// The request is being sent.
    Opening(Pin<Box<dyn Future<Output = Result<AnswerStream, ikigai::Error>> + Send>>),
    /// The answer is arriving.
    Open(Box<AnswerStream>),
}

impl Flow {
    /// Sends the request.
    pub(crate) fn open(model: Model, history: Vec<Message>) -> Self {
        Flow::Opening(Box::pin(async move { model.stream(history).await }))
    }

    /// Returns the next event; `None` at the end. Cancel-safe, but must not be called again after an error.
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

    /// Returns what has arrived of the current answer, or else the last answer.
    pub(crate) fn so_far(&self) -> Option<Response> {
        match self {
            Flow::Open(stream) => Some(stream.so_far().clone()),
            Flow::Opening(_) => None,
        }
    }
}

/// Describes a loss for people: what became of it, what it was and why. Names the place unless the name implies it.
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
        // So do codes that do not exist yet: something is missing.
        _ => "dropped:",
    };
    let place =
        if loss.place == loss.what || loss.place.is_empty() { String::new() } else { format!(" at {}", loss.place) };
    (word, format!("{}{place} ({})", loss.what, reason(loss)))
}

/// Returns the reason, without a repetition that it is missing.
fn reason(loss: &Loss) -> &str {
    loss.why.strip_suffix("; left out").unwrap_or(&loss.why)
}

/// Returns what a request could not carry, listing the same thing at several places once.
pub(crate) fn lost(warnings: &[Loss]) -> Vec<String> {
    losses(warnings).into_iter().map(|(words, _)| words).collect()
}

/// Like `lost`, with the number of places.
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
        let known = Loss::new(LossCode::NotInDialect, "seed", "seed", "this API has no such parameter; left out");
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
