//! Clouds: requests as they arrive at a server that checks them like the real one.

mod azure;
#[cfg(feature = "bedrock")]
mod bedrock;
#[cfg(feature = "bedrock")]
mod converse;
#[cfg(feature = "vertex")]
mod vertex;

use ikigai_core::Dialect;

use crate::config::Environment;
use crate::testing::says;
use crate::transport::Http;
use crate::{Client, Retry};

fn client(variables: &[(&str, &str)]) -> Client {
    Client::builder()
        .transport(Http::builder().no_proxy().build().unwrap())
        .environment(Environment::of(variables.iter().copied()))
        .retry(Retry::never())
        .build()
        .unwrap()
}

fn whole(dialect: Dialect) -> String {
    let wire = dialect.encode_response(&says("Hello."), &ikigai_core::wire::Reply::default());
    String::from_utf8(wire.body).unwrap()
}
