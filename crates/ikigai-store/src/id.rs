//! Ids: time-ordered, and random enough that no two programs make the same one.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use uuid::Uuid;

/// The error for text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id; ids look like 019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58")]
pub struct NotAnId(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates a new id. Ids created later sort later; the rest is randomness from the operating system.
            #[expect(clippy::new_without_default, reason = "a default that is never the same twice would surprise")]
            pub fn new() -> Self {
                $name(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self.0.as_hyphenated(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                // Only the long form: with several spellings, text and id would not be one to one.
                match text.len() {
                    36 => text.parse().map($name).map_err(|_| NotAnId(text.to_owned())),
                    _ => Err(NotAnId(text.chars().take(60).collect())),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

id! {
    /// The id of a conversation.
    ///
    /// ```
    /// use ikigai_store::ConversationId;
    ///
    /// let id = ConversationId::new();
    /// assert_eq!(id.to_string().parse(), Ok(id));
    /// ```
    ConversationId
}

id! {
    /// The id of a message.
    MessageId
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn ids_sort_by_age_and_never_repeat() {
        let ids: Vec<MessageId> = (0..10_000).map(|_| MessageId::new()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        // The last 62 bits do not come from the clock: two programs in the same microsecond differ.
        let tails: BTreeSet<String> = ids.iter().map(|id| id.to_string()[24..].to_owned()).collect();
        assert_eq!(tails.len(), ids.len());
    }

    #[test]
    fn only_the_long_form_is_an_id() {
        for text in ["", "x", "019a8b5e7c3f7e219d4b0f6c2a1b3d58", "019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d5g"] {
            assert_eq!(text.parse::<ConversationId>(), Err(NotAnId(text.to_owned())));
        }
    }
}
