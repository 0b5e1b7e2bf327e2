//! What a watch should report: the same as decoding the bytes.

use ikigai_core::server::{Delivery, Seen, Watch};
use ikigai_core::wire::Ids;
use ikigai_core::{Dialect, Error, ErrorKind, Event, FinishReason, Response, Usage};

use super::wire::decode;

/// The compared values: everything except whether content has arrived, which has its own check.
#[derive(Debug, PartialEq)]
pub(crate) struct Account {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
    error: Option<Error>,
    ended: bool,
    started: bool,
}

/// Returns what a watch sees of an answer that arrives in pieces.
pub(crate) fn watched<'a>(dialect: Dialect, delivery: Delivery, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut watch = Watch::new(dialect, delivery);
    for piece in pieces {
        watch.feed(piece);
    }
    watch.finish()
}

/// Returns what a watch reports about an answer, and what it should report.
pub(crate) fn accounts(dialect: Dialect, delivery: Delivery, bytes: &[u8]) -> (Account, Account) {
    let seen = watched(dialect, delivery, [bytes]);
    let decoded = match delivery {
        Delivery::Stream => of_stream(&decode(dialect, bytes)),
        Delivery::Whole => of_whole(dialect, bytes),
    };
    let account = Account {
        id: seen.id,
        model: seen.model,
        usage: seen.usage,
        finish_reason: seen.finish_reason,
        error: seen.error,
        ended: seen.ended,
        started: seen.started,
    };
    (account, decoded)
}

/// Returns the account from the events of a stream.
fn of_stream(events: &[Event]) -> Account {
    let mut account = nothing();
    for event in events {
        match event {
            Event::Start { id, model, .. } => {
                account.id = id.clone().filter(|id| !id.is_empty());
                account.model = model.clone().filter(|model| !model.is_empty());
                account.started = true;
            }
            Event::Usage { usage } => account.usage = Some(usage.clone()),
            Event::Done { finish_reason, .. } => {
                (account.finish_reason, account.ended) = (Some(*finish_reason), true);
            }
            Event::Error { error } => fail(&mut account, (**error).clone()),
            _ => {}
        }
    }
    account
}

/// Only a failure of the provider counts. If a decoder finds an answer broken, it is an answer without an end.
fn fail(account: &mut Account, mut error: Error) {
    if error.kind != ErrorKind::Protocol {
        error.partial = None;
        account.error = Some(error);
        account.finish_reason = Some(FinishReason::Error);
    }
}

fn of_whole(dialect: Dialect, bytes: &[u8]) -> Account {
    let mut account = nothing();
    if serde_json::from_slice::<serde_json::Value>(bytes).is_err() {
        return account;
    }
    match dialect.decode_response(bytes, &mut Ids::seeded(7), &ikigai_core::Limits::default()) {
        Ok(response) => take(&mut account, response),
        Err(mut error) => {
            if let Some(partial) = error.partial.take() {
                take(&mut account, *partial);
                (account.finish_reason, account.ended) = (None, false);
            }
            fail(&mut account, error);
        }
    }
    account
}

fn take(account: &mut Account, response: Response) {
    account.id = response.id.filter(|id| !id.is_empty());
    account.model = Some(response.model).filter(|model| !model.is_empty());
    account.usage = response.usage;
    account.finish_reason = Some(response.finish_reason);
    account.error = response.error.map(|error| *error);
    account.ended = account.error.is_none();
    account.started = true;
}

fn nothing() -> Account {
    Account { id: None, model: None, usage: None, finish_reason: None, error: None, ended: false, started: false }
}
