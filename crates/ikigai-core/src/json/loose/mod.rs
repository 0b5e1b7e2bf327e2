//! Wire structs for JSON that may have any form.
//!
//! The servers of one family differ in small things: a string where others have a list, `null`, an empty list, a number
//! in quotation marks. A loose struct accepts the values that fit its fields. Everything else stays in `rest` as it was
//! written, so nothing is refused and nothing is lost. Values are read directly into their places, in one pass.

mod values;

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde_json::value::RawValue;

use super::wire::{Rest, Text};
use super::{Fields, reader};

pub(crate) use values::{Item, Words};

/// A value that did not fit its place, as written; `None` if it did.
pub(crate) type Odd<'a> = Option<Cow<'a, RawValue>>;

/// A place that can be filled from any JSON value. A value that does not fit is returned and changes nothing.
pub(crate) trait Loose<'de>: Sized {
    fn string(&mut self, text: Cow<'de, str>) -> Odd<'de> {
        Some(raw(&text))
    }

    fn whole_number(&mut self, number: u64) -> Odd<'de> {
        Some(raw(&number))
    }

    fn flag(&mut self, flag: bool) -> Odd<'de> {
        Some(raw(&flag))
    }

    fn object<A: MapAccess<'de>>(&mut self, map: A) -> Result<Odd<'de>, A::Error> {
        raw_object(map).map(Some)
    }

    fn list<A: SeqAccess<'de>>(&mut self, list: A) -> Result<Odd<'de>, A::Error> {
        raw_list(list).map(Some)
    }

    /// Reads the next value into this place.
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<Odd<'de>, D::Error> {
        deserializer.deserialize_any(Fill(self))
    }

    /// Returns whether no fitting value was found.
    fn is_absent(&self) -> bool;

    /// Returns everything that is still here, to be kept: values that were not taken out, and the rest.
    fn leftovers(self) -> Fields {
        Fields::default()
    }
}

/// Reads a document into a loose struct; returns the document if it is not an object.
pub(crate) fn read<'a, T: Loose<'a> + Default>(text: &'a str, into: &mut T) -> Result<Odd<'a>, serde_json::Error> {
    reader::read_seed(Fill(into), text, usize::MAX).map_err(|refused| refused.explain(text))
}

/// Reads raw text as a loose value; `None` if it has a different form.
pub(crate) fn read_raw<'a, T: Loose<'a> + Default>(raw: &'a RawValue) -> Option<T> {
    let mut into = T::default();
    matches!(read(raw.get(), &mut into), Ok(None)).then_some(into)
}

/// Returns the raw text of something that has a JSON form.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> Cow<'static, RawValue> {
    Cow::Owned(super::raw_of(&value))
}

/// Returns the raw text of an object, with its values unchanged.
#[inline(never)]
pub(crate) fn raw_object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Cow<'de, RawValue>, A::Error> {
    let mut fields = Rest::new();
    while let Some((key, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
        fields.push((key.0, Cow::Borrowed(value)));
    }
    Ok(raw(&Pairs(&fields)))
}

#[inline(never)]
fn raw_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Cow<'de, RawValue>, A::Error> {
    let mut items = Vec::new();
    while let Some(item) = list.next_element::<&'de RawValue>()? {
        items.push(item);
    }
    Ok(raw(&items))
}

/// Named values, written as an object.
pub(crate) struct Pairs<'p, 'a>(pub(crate) &'p [(Cow<'a, str>, Cow<'a, RawValue>)]);

impl Serialize for Pairs<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The place to fill.
pub(crate) struct Fill<'p, T>(pub(crate) &'p mut T);

impl<'de, T: Loose<'de>> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = Odd<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Odd<'de>, D::Error> {
        self.0.fill(deserializer)
    }
}

impl<'de, T: Loose<'de>> Visitor<'de> for Fill<'_, T> {
    type Value = Odd<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Odd<'de>, E> {
        Ok(self.0.string(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Odd<'de>, E> {
        Ok(self.0.string(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Odd<'de>, E> {
        Ok(self.0.string(Cow::Owned(text)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Odd<'de>, E> {
        Ok(self.0.whole_number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Odd<'de>, E> {
        Ok(Some(raw(&number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Odd<'de>, E> {
        Ok(Some(raw(&number)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Odd<'de>, E> {
        Ok(self.0.flag(flag))
    }

    fn visit_unit<E>(self) -> Result<Odd<'de>, E> {
        Ok(Some(Cow::Borrowed(RawValue::NULL)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Odd<'de>, A::Error> {
        self.0.object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Odd<'de>, A::Error> {
        self.0.list(list)
    }
}

/// Returns the next key of a map.
pub(crate) fn key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key::<Text<'de>>()?.map(|key| key.0))
}

/// Defines a wire struct that accepts any JSON object: fitting fields are taken, the others stay in `rest`.
///
/// ```text
/// loose! {
///     /// A message.
///     pub(super) struct Message<'a> {
///         role "role": Option<Text<'a>>,
///         tool_calls "tool_calls": Vec<Item<'a, Call<'a>>>,
///     }
/// }
/// ```
///
/// A field that appears twice is an error. Writing outputs the fields that are present, in the struct's order, and then
/// `rest` without those.
macro_rules! loose {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lt:lifetime> {
            $( $(#[$about:meta])* $field:ident $wire:literal : $kind:ty ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        $vis struct $name<$lt> {
            $( $(#[$about])* $vis $field: $kind, )*
            /// The other fields, and those whose values have a different form.
            $vis rest: $crate::json::wire::Rest<$lt>,
        }

        impl<$lt> $crate::json::loose::Loose<$lt> for $name<$lt> {
            fn object<A: serde::de::MapAccess<$lt>>(
                &mut self,
                mut map: A,
            ) -> Result<$crate::json::loose::Odd<$lt>, A::Error> {
                $( let mut $field = false; )*
                while let Some(key) = $crate::json::loose::key(&mut map)? {
                    match key.as_ref() {
                        $( $wire => {
                            if std::mem::replace(&mut $field, true) {
                                return Err(serde::de::Error::duplicate_field($wire));
                            }
                            if let Some(odd) = map.next_value_seed($crate::json::loose::Fill(&mut self.$field))? {
                                self.rest.push((key, odd));
                            }
                        } )*
                        _ => {
                            let raw: &$lt serde_json::value::RawValue = map.next_value()?;
                            self.rest.push((key, std::borrow::Cow::Borrowed(raw)));
                        }
                    }
                }
                Ok(None)
            }

            fn is_absent(&self) -> bool {
                false
            }

            fn leftovers(self) -> $crate::Fields {
                let mut fields = $crate::Fields::default();
                $( let $field = !self.$field.is_absent();
                if $field && let Ok(json) = $crate::Json::of(&self.$field) {
                    fields.push($wire, json);
                } )*
                for (name, raw) in self.rest {
                    let written = match name.as_ref() {
                        $( $wire => $field, )*
                        _ => false,
                    };
                    if !written {
                        fields.push(name, $crate::Json::copy(&raw));
                    }
                }
                fields
            }
        }

        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                use $crate::json::loose::Loose as _;
                let mut map = serializer.serialize_map(None)?;
                $( if !self.$field.is_absent() {
                    $crate::json::wire::write_key(&mut map, $wire)?;
                    map.serialize_value(&self.$field)?;
                } )*
                for (name, raw) in &self.rest {
                    let written = match name.as_ref() {
                        $( $wire => !self.$field.is_absent(), )*
                        _ => false,
                    };
                    if !written {
                        $crate::json::wire::write_key(&mut map, name)?;
                        map.serialize_value(raw)?;
                    }
                }
                map.end()
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json::wire::Raw;

    loose! {
        struct Thing<'a> {
            name "name": Option<Text<'a>>,
            said "said": Words<'a>,
            inner "inner": Option<Box<Thing<'a>>>,
            list "list": Vec<Item<'a, Thing<'a>>>,
            any "any": Option<Raw<'a>>,
        }
    }

    fn again(text: &str) -> String {
        let mut thing = Thing::default();
        assert!(read(text, &mut thing).unwrap().is_none());
        serde_json::to_string(&thing).unwrap()
    }

    #[test]
    fn what_fits_is_taken_and_the_rest_stays_as_it_was_written() {
        let text = r#"{"name":"n","said":"s","inner":{"name":"i"},"list":[{"name":"l"},7,null],"any":1e400}"#;
        assert_eq!(again(text), text);
        let odd = r#"{"x":1e2,"name":5,"said":"","inner":[1e400,{"b": 1.10}],"list":[],"any":null,"x":2}"#;
        assert_eq!(
            again(odd),
            r#"{"x":1e2,"name":5,"said":"","inner":[1e400,{"b": 1.10}],"list":[],"any":null,"x":2}"#
        );
        let mut thing = Thing::default();
        read(odd, &mut thing).unwrap();
        assert!(thing.name.is_none() && thing.said.is_absent() && thing.inner.is_none() && thing.list.is_empty());
    }

    #[test]
    fn what_is_not_an_object_is_given_back() {
        for text in [r#""x""#, "[1e2]", "null", "true", "-1"] {
            let odd = read(text, &mut Thing::default()).unwrap();
            assert_eq!(odd.map(|raw| raw.get().to_owned()).as_deref(), Some(text));
        }
        assert!(read(r#"{"name":"a","name":"b"}"#, &mut Thing::default()).is_err());
        assert!(read(r#"{"name""#, &mut Thing::default()).is_err());
    }
}
