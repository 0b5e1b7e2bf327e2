//! Loose wire structs in lists and as whole documents, and the fields in their `rest`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::loose::{Item, Loose, Odd, raw};
use super::wire::{Rest, Text};

/// Finds a field that the struct does not have, or whose form did not fit; the last one if there are several.
pub(crate) fn find<'r>(rest: &'r Rest<'_>, name: &str) -> Option<&'r RawValue> {
    rest.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_ref())
}

/// Sets a field that the struct does not have.
pub(crate) fn put<T: Serialize + ?Sized>(rest: &mut Rest<'_>, name: &'static str, value: &T) {
    rest.retain(|(own, _)| own != name);
    rest.push((Cow::Borrowed(name), raw(value)));
}

/// A string, or a list of objects.
#[derive(Debug, Clone, Default)]
pub(crate) enum Many<'a, T> {
    #[default]
    Absent,
    Text(Text<'a>),
    List(Vec<Item<'a, T>>),
}

impl<'a, T> Many<'a, T> {
    /// Returns the objects of the list, if it is one.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &T> {
        let list = if let Many::List(list) = self { list.as_slice() } else { &[] };
        list.iter().filter_map(|entry| match entry {
            Item::Fits(object) => Some(object),
            Item::Odd(_) => None,
        })
    }
}

impl<'a, T: Loose<'a> + Default> Loose<'a> for Many<'a, T> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Many::Text(Text(text));
        None
    }

    fn list<A: SeqAccess<'a>>(&mut self, list: A) -> Result<Odd<'a>, A::Error> {
        let mut entries = Vec::new();
        entries.list(list)?;
        *self = Many::List(entries);
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        matches!(self, Many::Absent)
    }
}

impl<T: Serialize> Serialize for Many<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Many::Absent => serializer.serialize_unit(),
            Many::Text(text) => text.serialize(serializer),
            Many::List(list) => list.serialize(serializer),
        }
    }
}

/// A whole document as a loose struct. It must be an object.
#[derive(Debug)]
pub(crate) struct Document<T>(pub(crate) T);

impl<'de, T: Loose<'de> + Default> Deserialize<'de> for Document<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Loose<'de> + Default> Visitor<'de> for Fields<T> {
            type Value = Document<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Document<T>, A::Error> {
                let mut document = T::default();
                document.object(map)?;
                Ok(Document(document))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}
