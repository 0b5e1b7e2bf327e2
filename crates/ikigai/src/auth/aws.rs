//! Amazon's Signature Version 4.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::identity::Identity;
use bytes::Bytes;
use ikigai_core::ErrorKind;

use crate::config::{Environment, Found, Key, KeySource};
use crate::error::Error;

/// The service name that Bedrock's requests are signed for.
const SERVICE: &str = "bedrock";

/// Signs requests with a key pair.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    credentials: Credentials,
    /// The region from the environment, for URLs that do not name one.
    region: String,
    from: KeySource,
}

impl Signer {
    /// Finds the key pair in the environment: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, with `AWS_SESSION_TOKEN`
    /// if it is temporary; or else in a profile in `~/.aws/credentials`. `None` if neither is set.
    pub(crate) fn find(environment: &Environment) -> Result<Option<Self>, Error> {
        let region = environment.variable("AWS_REGION").or_else(|| environment.variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let signer = |id: String, secret: String, session: Option<String>, from: KeySource| Signer {
            credentials: Credentials::new(id, secret, session, None, "ikigai"),
            region: region.clone(),
            from,
        };
        if let Some(id) = environment.variable("AWS_ACCESS_KEY_ID") {
            let Some(secret) = environment.variable("AWS_SECRET_ACCESS_KEY") else {
                let told = "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not";
                return Err(ikigai_core::Error::new(ErrorKind::Auth, told).into());
            };
            let from = KeySource::Variable("AWS_ACCESS_KEY_ID".to_owned());
            return Ok(Some(signer(id, secret, environment.variable("AWS_SESSION_TOKEN"), from)));
        }
        let Some(file) = credentials_file(environment) else { return Ok(None) };
        let profile = environment.variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
        Ok(profile_keys(&file, &profile)
            .map(|(id, secret, session)| signer(id, secret, session, KeySource::File(file))))
    }

    /// Returns the id of the pair, and where the pair was found.
    pub(crate) fn found(&self) -> Found {
        Found { key: Key::from(self.credentials.access_key_id()), from: self.from.clone() }
    }

    /// Signs the request, with the given time.
    pub(crate) fn sign(
        &self,
        mut request: http::Request<Bytes>,
        now: SystemTime,
    ) -> Result<http::Request<Bytes>, Error> {
        let failed = |why: String| {
            Error::new(ikigai_core::Error::new(ErrorKind::Auth, format!("the request cannot be signed: {why}")))
        };
        let identity: Identity = self.credentials.clone().into();
        let region = region_of(request.uri().host().unwrap_or_default()).unwrap_or(&self.region).to_owned();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&region)
            .name(SERVICE)
            .time(now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let uri = request.uri().to_string();
        let headers: Vec<(&str, &str)> =
            request.headers().iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let body = SignableBody::Bytes(request.body());
        let signable = SignableRequest::new(request.method().as_str(), uri, headers.into_iter(), body)
            .map_err(|error| failed(error.to_string()))?;
        let (instructions, _) =
            sign(signable, &parameters.into()).map_err(|error| failed(error.to_string()))?.into_parts();
        instructions.apply_to_request_http1x(&mut request);
        for name in [http::header::AUTHORIZATION.as_str(), "x-amz-security-token"] {
            if let Some(value) = request.headers_mut().get_mut(name) {
                value.set_sensitive(true);
            }
        }
        Ok(request)
    }
}

/// Extracts the region from Amazon's own host names: `bedrock-runtime.eu-west-1.amazonaws.com`.
fn region_of(host: &str) -> Option<&str> {
    let rest = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    rest.rsplit('.').next().filter(|region| region.contains('-') && !region.starts_with(SERVICE))
}

fn credentials_file(environment: &Environment) -> Option<PathBuf> {
    if let Some(file) = environment.variable("AWS_SHARED_CREDENTIALS_FILE") {
        return Some(PathBuf::from(file));
    }
    let home = environment.variable("HOME").or_else(|| environment.variable("USERPROFILE"))?;
    Some(Path::new(&home).join(".aws").join("credentials"))
}

/// Reads the keys of a profile in a file of `[profile]` sections with `name = value` lines.
fn profile_keys(file: &Path, profile: &str) -> Option<(String, String, Option<String>)> {
    let text = std::fs::read_to_string(file).ok()?;
    let (mut inside, mut id, mut secret, mut session) = (false, None, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = section.trim() == profile;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            let value = Some(value.trim().to_owned());
            match name.trim() {
                "aws_access_key_id" => id = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => session = value,
                _ => {}
            }
        }
    }
    Some((id?, secret?, session))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn keys_come_from_variables_then_from_a_profile() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        std::fs::write(&file, "[default]\naws_access_key_id = A\naws_secret_access_key = B\n\n[work]\naws_access_key_id=C\naws_secret_access_key=D\naws_session_token=E\n").unwrap();
        let file = file.to_str().unwrap();
        let found = |variables: &[(&str, &str)]| {
            let signer = Signer::find(&Environment::of(variables.iter().copied())).unwrap()?;
            let keys = &signer.credentials;
            let words =
                [keys.access_key_id(), keys.secret_access_key(), keys.session_token().unwrap_or("-"), &signer.region];
            Some(words.join(" "))
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("AWS_SHARED_CREDENTIALS_FILE", file)]).as_deref(), Some("A B - us-east-1"));
        let work = [("AWS_SHARED_CREDENTIALS_FILE", file), ("AWS_PROFILE", "work"), ("AWS_REGION", "eu-west-1")];
        assert_eq!(found(&work).as_deref(), Some("C D E eu-west-1"));
        assert_eq!(found(&[("AWS_SHARED_CREDENTIALS_FILE", file), ("AWS_PROFILE", "none")]), None);
        let both = [("AWS_SHARED_CREDENTIALS_FILE", file), ("AWS_ACCESS_KEY_ID", "F"), ("AWS_SECRET_ACCESS_KEY", "G")];
        assert_eq!(found(&both).as_deref(), Some("F G - us-east-1"));
        let half = Signer::find(&Environment::of([("AWS_ACCESS_KEY_ID", "F")])).unwrap_err();
        assert_eq!(half.to_string(), "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
    }

    #[test]
    fn the_region_is_in_the_host() {
        assert_eq!(region_of("bedrock-runtime.eu-west-1.amazonaws.com"), Some("eu-west-1"));
        assert_eq!(region_of("vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com"), None);
        assert_eq!(region_of("localhost"), None);
    }
}
