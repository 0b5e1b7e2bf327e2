//! The client keys created at the first start. Only their fingerprints are stored; the keys are not needed.

use ikigai_gateway::ClientKey;
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::exit::Failure;
use crate::files::{self, Mode};
use crate::places::Places;

/// The keys created here.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ClientKeys {
    /// The SHA-256 of each, in hexadecimal.
    keys: Vec<String>,
}

impl ClientKeys {
    /// Reads the keys created before.
    pub(super) fn read() -> Result<Self, Failure> {
        let file = Places::required()?.client_keys();
        match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(ClientKeys::default()),
            Err(error) => Err(Failure::new(format!("cannot read {}: {error}", file.display()))),
            Ok(text) => toml::from_str(&text).map_err(|error| {
                Failure::new(format!("{}: {}", file.display(), error.message()))
                    .hint("Delete the file and run `ikigai serve --new-key`.")
            }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys' fingerprints for the gateway.
    pub(super) fn fingerprints(&self) -> Vec<ClientKey> {
        let known = self.keys.iter().filter_map(|key| digest::from_hex(key));
        known.map(|fingerprint| ClientKey { fingerprint, name: "local".to_owned() }).collect()
    }

    /// Creates a key that replaces the others, and returns it so that it can be shown once.
    pub(super) fn make(&mut self) -> Result<String, Failure> {
        let random = [uuid(), uuid()].concat();
        let key = format!("ik-{random}");
        self.keys = vec![digest::hex(&ClientKey::new(&key, "").fingerprint)];
        let file = Places::required()?.client_keys();
        let failed = |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", file.display()));
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let text = toml::to_string(self).map_err(|error| Failure::new(error.to_string()))?;
        files::replace(&file, text.as_bytes(), Mode::Private).map_err(failed)?;
        Ok(key)
    }
}

/// Returns a random string, from the system's randomness.
fn uuid() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
