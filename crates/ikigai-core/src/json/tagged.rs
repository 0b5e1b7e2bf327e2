//! Objects whose `type` says what they are.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::text::unescape;
use super::wire::{Raw, Rest, Text};

/// An object whose fields are kept as they were written, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<'a>(pub(crate) Rest<'a>);

impl<'a> Object<'a> {
    /// The first field of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, raw)| raw.as_ref())
    }

    /// Adds a field at the end.
    pub(crate) fn push(&mut self, name: &'static str, value: Raw<'a>) {
        self.0.push((Cow::Borrowed(name), value.0));
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, raw)| (name, raw)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object::default();
                while let Some((name, raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    object.0.push((name.0, Cow::Borrowed(raw)));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The fields of all types of objects that a place of the wire has, with the type itself.
pub(crate) trait Typed<'a> {
    /// Whether objects of this type have these fields.
    fn knows(kind: &str) -> bool;

    /// The field that says the type.
    fn kind(&mut self) -> &mut Option<Text<'a>>;
}

/// An object of a known type, read into its fields; or any other object, whole, with its fields in their order.
///
/// The type mostly stands first, and the fields behind it are then read in the same pass.
#[derive(Debug, Clone)]
pub(crate) enum Tagged<'a, T> {
    /// An object of a known type.
    Known(T),
    /// An object of another type, or of none.
    Whole(Raw<'a>),
}

impl<T: Serialize> Serialize for Tagged<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tagged::Known(fields) => fields.serialize(serializer),
            Tagged::Whole(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a, T: Typed<'a> + Deserialize<'de>> Deserialize<'de> for Tagged<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByType<'a, T>(PhantomData<(&'a (), T)>);
        impl<'de: 'a, 'a, T: Typed<'a> + Deserialize<'de>> Visitor<'de> for ByType<'a, T> {
            type Value = Tagged<'a, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut object = Object::default();
                let mut known = false;
                while let Some((name, raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    if name.as_str() == "type" {
                        let kind = unescape(raw.get()).filter(|kind| T::knows(kind));
                        known = kind.is_some();
                        if let Some(kind) = kind.filter(|_| object.0.is_empty()) {
                            let mut fields = T::deserialize(MapAccessDeserializer::new(map))?;
                            if fields.kind().replace(Text(kind)).is_some() {
                                return Err(A::Error::duplicate_field("type"));
                            }
                            return Ok(Tagged::Known(fields));
                        }
                    }
                    object.0.push((name.0, Cow::Borrowed(raw)));
                }
                if !known {
                    return Ok(Tagged::Whole(Raw::of(&object)));
                }
                // The type stands behind other fields, which are read only now that it is known.
                let entries = object.0.iter().filter_map(|(name, raw)| match raw {
                    Cow::Borrowed(raw) => Some((name.as_ref(), *raw)),
                    Cow::Owned(_) => None,
                });
                let fields = T::deserialize(MapDeserializer::<_, serde_json::Error>::new(entries));
                fields.map(Tagged::Known).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_map(ByType(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::read;
    use super::*;

    wire! {
        struct Shape<'a> {
            kind "type": Text<'a>,
            side "side": Raw<'a>,
        }
    }

    impl<'a> Typed<'a> for Shape<'a> {
        fn knows(kind: &str) -> bool {
            kind == "square"
        }

        fn kind(&mut self) -> &mut Option<Text<'a>> {
            &mut self.kind
        }
    }

    #[test]
    fn known_types_are_read_wherever_the_type_stands_and_others_stay_whole() {
        let read = |text: &str| {
            let tagged: Tagged<'_, Shape<'_>> = read(text.as_bytes()).unwrap();
            let known = matches!(tagged, Tagged::Known(_));
            (known, serde_json::to_string(&tagged).unwrap())
        };
        let same = [
            (r#"{"type":"square","side":1.10,"x":1,"x":[1e400]}"#, true),
            (r#"{"side":1,"type":"circle","r":1e2}"#, false),
            (r#"{"type":null,"side":1}"#, false),
            ("{}", false),
        ];
        for (text, known) in same {
            assert_eq!(read(text), (known, text.to_owned()));
        }
        let late = r#"{"x":"\n","side":2,"type":"sq\u0075are"}"#;
        assert_eq!(read(late), (true, r#"{"type":"square","side":2,"x":"\n"}"#.to_owned()));
    }

    #[test]
    fn a_type_that_stands_twice_is_an_error_with_its_place() {
        for text in [r#"[{"type":"square","type":"square"}]"#, r#"[{"side":1,"type":"square","type":"square"}]"#] {
            let fault = read::<Vec<Tagged<'_, Shape<'_>>>>(text.as_bytes()).unwrap_err();
            assert!(fault.starts_with("[0]: duplicate field `type`"), "{fault}");
        }
    }
}
