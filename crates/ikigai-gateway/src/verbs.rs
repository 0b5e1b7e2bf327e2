//! What the APIs offer besides answers: counting tokens, embeddings, lists of models.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use ikigai::{ErrorKind, Exchange, Facts, ListedModel, Upstream, Wanted};
use ikigai_core::server::{Endpoint, Verb};
use ikigai_core::wire::{Incoming, VectorForm};
use ikigai_core::{Error, Limits};

use crate::generate::{Asked, Call, Failure, apart};
use crate::log::Entry;
use crate::pass::{is_json, renamed, unreadable};
use crate::plan::{Way, check_length};
use crate::reply::{self, Out, wrong_field};
use crate::state::State;

/// Counts the tokens of a request. The provider counts if it can; otherwise they are estimated.
pub(crate) async fn count(call: &Call, entry: &mut Entry, state: &Arc<State>) -> Result<Response<Out>, Failure> {
    let dialect = call.endpoint.dialect;
    let asked = Asked::of(&call.endpoint, &call.body.bytes)?;
    let plan = first(&asked.model, call, entry, state)?;
    let Way { upstream, passes } = &plan.first;
    if *passes {
        return match send_on(call, &asked, upstream).await {
            // Some providers that copy an API lack this part of it.
            Err(Failure::Upstream(error)) if is_missing(&error) => {
                let _turn = call.turns.wait(call.length).await;
                Ok(estimated(dialect, ikigai::estimate_tokens(&decode_count(call).await?)))
            }
            outcome => outcome,
        };
    }
    let turn = call.turns.wait(call.length).await;
    let mut request = decode_count(call).await?;
    dialect.check_self_contained(&request)?;
    request.model.clone_from(&upstream.model().id);
    let target = upstream.clone();
    let encode = move || {
        let wire = target.dialect().encode_request(&request, &target.target(), &Limits::server())?;
        Ok((target.dialect().count_request(&wire), ikigai::estimate_tokens(&request)))
    };
    let (wire, estimate) = apart(call.length, encode).await?;
    drop(turn);
    let Some(wire) = wire else { return Ok(estimated(dialect, estimate)) };
    let headers = reply::header_map(&wire.headers);
    match upstream.send(&wire.path, &headers, wire.body.into(), Wanted::Whole).await {
        Ok(exchange) => {
            let counted = read(exchange, |body| upstream.dialect().decode_count(body, &Limits::client())).await;
            match counted? {
                Some(tokens) => Ok(reply::json(StatusCode::OK, dialect.encode_count(tokens))),
                None => Ok(estimated(dialect, estimate)),
            }
        }
        Err(error) if is_missing(&error) => Ok(estimated(dialect, estimate)),
        Err(error) => Err(error.into()),
    }
}

fn is_missing(error: &ikigai::Error) -> bool {
    matches!(error.status(), Some(404 | 405 | 501))
}

/// Decodes a request to count, on another thread if it is large.
async fn decode_count(call: &Call) -> Result<ikigai::Request, Error> {
    let (dialect, target, body) = (call.endpoint.dialect, call.target.clone(), call.body.bytes.clone());
    apart(call.length, move || dialect.decode_count_request(Incoming::new(&body).at(&target), &Limits::server())).await
}

fn estimated(dialect: ikigai::Dialect, tokens: u64) -> Response<Out> {
    let mut response = reply::json(StatusCode::OK, dialect.encode_count(tokens));
    let header = http::HeaderName::from_static("x-ikigai-estimated");
    response.headers_mut().insert(header, http::HeaderValue::from_static("true"));
    response
}

/// The plan for a name, of which only the first model is asked.
fn first(asked: &str, call: &Call, entry: &mut Entry, state: &Arc<State>) -> Result<Arc<crate::plan::Plan>, Error> {
    entry.asked = Some(asked.to_owned());
    let plan = state.plan(asked, call.endpoint.dialect)?;
    let Way { upstream, passes } = &plan.first;
    entry.target = Some(upstream.model().to_string());
    entry.upstream_dialect = Some(upstream.dialect());
    entry.mode = Some(if *passes { "pass" } else { "translate" });
    Ok(plan)
}

/// Forwards a request unchanged except for the model's name, and returns its answer.
async fn send_on(call: &Call, asked: &Asked, upstream: &Upstream) -> Result<Response<Out>, Failure> {
    let model = &upstream.model().id;
    let body = renamed(call.body.bytes.clone(), asked, model);
    let path = call.endpoint.path(model, &call.target);
    let exchange = upstream.send(&path, &call.headers, body, Wanted::Whole).await?;
    let (status, headers) = (exchange.status, reply::passed_on(exchange.headers.clone()));
    // Anything else than JSON may be a page that repeats what it was sent, with the key.
    let checked = |body: &Bytes| if is_json(body) { Ok(body.clone()) } else { Err(unreadable()) };
    Ok(reply::whole(status, headers, read(exchange, checked).await?))
}

/// Reads a provider's whole answer. It may be charged for, even if it cannot be read.
async fn read<T>(exchange: Exchange, decode: impl FnOnce(&Bytes) -> Result<T, Error>) -> Result<T, Failure> {
    let redactor = exchange.redactor();
    let body = exchange.bytes().await.map_err(|error| Failure::from(error).charged())?;
    decode(&body).map_err(|error| Failure::from(redactor.error(error)).charged())
}

/// Computes embeddings.
pub(crate) async fn embed(call: &Call, entry: &mut Entry, state: &Arc<State>) -> Result<Response<Out>, Failure> {
    let dialect = call.endpoint.dialect;
    let asked = Asked::of(&call.endpoint, &call.body.bytes)?;
    let plan = first(&asked.model, call, entry, state)?;
    let Way { upstream, passes } = &plan.first;
    if *passes {
        return send_on(call, &asked, upstream).await;
    }
    let turn = call.turns.wait(call.length).await;
    let body = call.body.bytes.clone();
    let wanted = apart(call.length, move || dialect.decode_embed_request(&body)).await?;
    drop(turn);
    let model = upstream.model().id.as_str();
    if let Some(other) = wanted.others.first()
        && (call.strict || plan.strict)
    {
        return Err(wrong_field(other, format!("strict: `{other}` cannot be carried to {}", upstream.dialect())).into());
    }
    let request = upstream.dialect().embed_request(model, &wanted.texts, wanted.dimensions);
    let Some(request) = request else {
        return Err(Error::invalid_request(format!("{} does not offer embeddings", upstream.provider().name)).into());
    };
    let most = upstream.dialect().most_embeddings().unwrap_or(usize::MAX);
    if wanted.texts.len() > most {
        return Err(Error::invalid_request(format!(
            "{} accepts at most {most} texts at once",
            upstream.provider().name
        ))
        .into());
    }
    let headers = reply::header_map(&request.headers);
    let exchange = upstream.send(&request.path, &headers, request.body.into(), Wanted::Whole).await?;
    let vectors = read(exchange, |body| upstream.dialect().decode_embeddings(body, wanted.texts.len())).await?;
    let form = if call.endpoint.verb == Verb::EmbedBatch { VectorForm::Numbers } else { wanted.form };
    let mut response = reply::json(StatusCode::OK, dialect.encode_embeddings(&vectors, &asked.model, form));
    let losses: Vec<ikigai_core::Loss> = wanted
        .others
        .iter()
        .map(|name| {
            ikigai_core::Loss::new(
                ikigai_core::LossCode::NotInDialect,
                name,
                name,
                "the provider's API has no such field",
            )
        })
        .collect();
    reply::tell_losses(response.headers_mut(), &losses);
    entry.losses = losses;
    Ok(response)
}

/// Lists the models that clients can ask for.
pub(crate) fn list(endpoint: &Endpoint, state: &State) -> Response<Out> {
    reply::json(StatusCode::OK, endpoint.dialect.encode_models(&models(state)))
}

/// Describes one model.
pub(crate) fn get(endpoint: &Endpoint, state: &State) -> Result<Response<Out>, Error> {
    let asked = endpoint.model.as_deref().unwrap_or_default();
    check_length(asked)?;
    let plan = state.plan(asked, endpoint.dialect)?;
    let model = match plan.first.upstream.facts() {
        Some(facts) => listed(asked.to_owned(), facts),
        None => ListedModel::new(asked),
    };
    Ok(reply::json(StatusCode::OK, endpoint.dialect.encode_model(&model)))
}

/// The configured names first, then the models of reachable providers, by names that a client can use.
fn models(state: &State) -> Vec<ListedModel> {
    let registry = &state.config.registry;
    let mut names = BTreeSet::new();
    let mut models = Vec::new();
    for setup in state.config.models.iter().filter(|setup| !setup.pattern.contains('*')) {
        let facts = setup.targets.first().and_then(|target| registry.route(&target.name).ok()?.facts);
        let name = setup.pattern.clone();
        names.insert(name.clone());
        models.push(facts.map_or_else(|| ListedModel::new(&name), |facts| listed(name.clone(), facts)));
    }
    for facts in registry.catalog.models().filter(|facts| state.reachable.contains(facts.provider.as_ref())) {
        let is_plain =
            registry.parse(&facts.id).is_ok_and(|name| name.provider == facts.provider && name.level.is_none());
        let name = if is_plain { facts.id.to_string() } else { format!("{}:{}", facts.provider, facts.id) };
        if names.insert(name.clone()) {
            models.push(listed(name, facts));
        }
    }
    models
}

fn listed(id: String, facts: &Facts) -> ListedModel {
    let mut model = ListedModel::new(id);
    model.name = Some(facts.name.to_string()).filter(|name| !name.is_empty());
    model.context = facts.context.map(u64::from);
    model.max_output = facts.max_output.map(u64::from);
    model.owner = Some(facts.provider.to_string());
    model.released = facts.released.as_ref().map(ToString::to_string);
    model
}

/// The error for images and audio, which are not passed on.
pub(crate) fn media() -> Error {
    not_served("the gateway does not pass on image generation, speech and transcription; ask the provider directly")
}

/// The error for answers that a provider has stored.
pub(crate) fn stored() -> Error {
    not_served("the gateway cannot access answers stored by a provider; send the whole conversation instead")
}

/// The error for a path or an operation that the gateway does not have.
pub(crate) fn not_served(message: impl Into<String>) -> Error {
    let mut error = Error::new(ErrorKind::NotFound, message);
    // The code of OpenAI's own API; without it, its clients would say that the model is unknown.
    error.code = Some("unknown_url".to_owned());
    error
}
