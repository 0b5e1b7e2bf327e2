//! The log of requests, without their keys.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::auth;
use crate::service::Call;

/// A request as it was received.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Received {
    /// Its number, counted from 1.
    pub number: u64,
    /// The method, such as `POST`.
    pub method: String,
    /// The path with its query; a key in it is masked.
    pub path: String,
    /// The headers; keys are masked.
    pub headers: Vec<(String, String)>,
    /// The body as JSON, or as text if it is not JSON; `null` if it was not read for lack of a key.
    pub body: Value,
}

/// A request as it is kept. Its body is not parsed: a tree takes many times the memory of its text.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    number: u64,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Bytes>,
}

impl Entry {
    /// A request whose body was read.
    pub(crate) fn of(call: &Call) -> Self {
        // A copy: a slice would keep the whole buffer that it was read into.
        Entry { body: Some(Bytes::copy_from_slice(&call.body)), ..Entry::unread(call) }
    }

    /// A request that was refused before its body was read.
    pub(crate) fn unread(call: &Call) -> Self {
        Entry {
            number: call.number,
            method: call.method.to_string(),
            path: auth::without_key(&call.target()),
            headers: auth::without_keys(&call.headers),
            body: None,
        }
    }

    /// Its approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        128 + self.path.len() + headers + self.body.as_ref().map_or(0, Bytes::len)
    }

    pub(crate) fn received(&self) -> Received {
        let body = self.body.as_ref().map_or(Value::Null, |body| {
            serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
        });
        Received {
            number: self.number,
            method: self.method.clone(),
            path: self.path.clone(),
            headers: self.headers.clone(),
            body,
        }
    }

    /// Writes it as a [`Received`] in JSON; a JSON body is copied unchanged.
    pub(crate) fn write(&self) -> Result<Box<RawValue>, serde_json::Error> {
        #[derive(Serialize)]
        struct Written<'a, B> {
            number: u64,
            method: &'a str,
            path: &'a str,
            headers: &'a [(String, String)],
            body: B,
        }
        fn write<B: Serialize>(entry: &Entry, body: B) -> Result<Box<RawValue>, serde_json::Error> {
            let Entry { number, method, path, headers, .. } = entry;
            serde_json::value::to_raw_value(&Written { number: *number, method, path, headers, body })
        }
        let Some(body) = &self.body else { return write(self, Value::Null) };
        match serde_json::from_slice::<&RawValue>(body) {
            Ok(json) => write(self, json),
            Err(_) => write(self, String::from_utf8_lossy(body)),
        }
    }
}
