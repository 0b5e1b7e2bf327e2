//! Token counts, in each provider's form.

use ikigai_core::wire::{Incoming, WireError};
use ikigai_core::{Dialect, ErrorKind, Limits};

use crate::deliver::Answer;
use crate::service::{Call, refuse};
use crate::{models, talk};

pub(crate) fn answer(dialect: Dialect, call: &Call) -> Answer {
    match attempt(dialect, call) {
        Ok(answer) => answer,
        Err(refusal) => refusal.into(),
    }
}

fn attempt(dialect: Dialect, call: &Call) -> Result<Answer, WireError> {
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&call.body) {
        return Err(refuse(dialect, ErrorKind::InvalidRequest, format!("the body is not JSON: {error}")));
    }
    let target = call.target();
    let request = dialect
        .decode_count_request(Incoming::new(&call.body).at(&target), &Limits::server())
        .map_err(|error| dialect.encode_error(&error))?;
    models::check(dialect, &request.model)?;
    Ok(Answer::bytes(dialect.encode_count(talk::prompt_tokens(&request))))
}
