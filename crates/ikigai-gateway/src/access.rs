//! Who may use the gateway.

use std::borrow::Cow;

use http::HeaderMap;
use ikigai::ErrorKind;
use ikigai_core::Error;

use crate::config::{Access, fingerprint};

/// Headers that clients put their keys into.
const HEADERS: [&str; 3] = ["x-api-key", "x-goog-api-key", "api-key"];

/// The name of the client, from the key that it sends in a header of any dialect or in the query.
///
/// A client may send several keys, such as one from each of two variables: any known one counts.
pub(crate) fn client<'a>(access: &'a Access, headers: &HeaderMap, query: Option<&str>) -> Result<&'a str, Error> {
    let keys = match access {
        Access::Open => return Ok("anybody"),
        Access::Keys(keys) => keys,
    };
    let mut brought = false;
    for key in brought_keys(headers, query) {
        brought = true;
        let fingerprint = fingerprint(&key);
        // Comparing fingerprints in variable time is safe: they reveal nothing about the keys.
        if let Some(known) = keys.iter().find(|known| known.fingerprint == fingerprint) {
            return Ok(&known.name);
        }
    }
    let message = if brought {
        "the gateway does not know this key"
    } else {
        "the key is missing: send it as `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` or `?key=`"
    };
    let mut error = Error::new(ErrorKind::Auth, message);
    error.code = Some("invalid_api_key".to_owned());
    Err(error)
}

fn brought_keys<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> impl Iterator<Item = Cow<'a, str>> {
    let bearer = headers.get_all(http::header::AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| Cow::Borrowed(key.trim()))
    });
    let own = HEADERS.iter().filter_map(|name| Some(Cow::Borrowed(headers.get(*name)?.to_str().ok()?)));
    let asked = query.into_iter().flat_map(|query| query.split('&')).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name == "key").then(|| unescaped(value))
    });
    bearer.chain(own).chain(asked).filter(|key| !key.trim().is_empty())
}

/// Unescapes a value of a query.
fn unescaped(value: &str) -> Cow<'_, str> {
    ikigai_core::server::unescape(value).unwrap_or(Cow::Borrowed(value))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::config::ClientKey;

    fn checked(headers: &[(&'static str, &'static str)], query: Option<&str>) -> Result<String, String> {
        let access = Access::Keys(vec![ClientKey::new("a+key of a client", "one"), ClientKey::new("another", "two")]);
        let headers =
            headers.iter().map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        client(&access, &headers.collect(), query).map(str::to_owned).map_err(|error| error.message)
    }

    #[test]
    fn a_key_may_come_in_every_usual_place() {
        for (headers, query) in [
            (&[("authorization", "Bearer another")][..], None),
            (&[("authorization", "bearer  another")], None),
            (&[("x-api-key", "another")], None),
            (&[("x-goog-api-key", "another")], None),
            (&[("x-api-key", "wrong"), ("authorization", "Bearer another")], None),
            (&[], Some("alt=sse&key=another")),
        ] {
            assert_eq!(checked(headers, query).as_deref(), Ok("two"), "{headers:?} {query:?}");
        }
        assert_eq!(checked(&[], Some("key=a%2Bkey%20of%20a%20client")).as_deref(), Ok("one"));
    }

    #[test]
    fn without_a_known_key_nobody_comes_in() {
        let unknown = Err("the gateway does not know this key".to_owned());
        assert_eq!(checked(&[("authorization", "Bearer nothing")], None), unknown);
        assert_eq!(checked(&[], Some("key=x")), unknown);
        for headers in [&[][..], &[("authorization", "Basic another")], &[("x-api-key", "")]] {
            assert!(checked(headers, None).unwrap_err().starts_with("the key is missing"), "{headers:?}");
        }
    }
}
