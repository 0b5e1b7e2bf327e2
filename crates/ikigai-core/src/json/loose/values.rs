//! Values that fill a place loosely: strings, numbers, flags, objects and lists of them.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::{Deserializer, MapAccess, SeqAccess};
use serde::ser::Serializer;
use serde_json::value::RawValue;

use super::{Fill, Loose, Odd, raw};
use crate::json::wire::{Raw, Text};

impl<'a> Loose<'a> for Option<Text<'a>> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Some(Text(text));
        None
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A non-empty string; an empty one does not fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Words<'a>(pub(crate) Option<Text<'a>>);

impl<'a> Words<'a> {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_ref().map(Text::as_str)
    }

    pub(crate) fn take(&mut self) -> Option<Cow<'a, str>> {
        self.0.take().map(|text| text.0)
    }
}

impl<'a> Loose<'a> for Words<'a> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        if text.is_empty() {
            return Some(raw(&text));
        }
        self.0 = Some(Text(text));
        None
    }

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<'a> Loose<'a> for Option<u64> {
    fn whole_number(&mut self, number: u64) -> Odd<'a> {
        *self = Some(number);
        None
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<'a> Loose<'a> for Option<bool> {
    fn flag(&mut self, flag: bool) -> Odd<'a> {
        *self = Some(flag);
        None
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// Anything but `null`.
impl<'a> Loose<'a> for Option<Raw<'a>> {
    fn fill<D: Deserializer<'a>>(&mut self, deserializer: D) -> Result<Odd<'a>, D::Error> {
        let raw = <&'a RawValue as serde::Deserialize>::deserialize(deserializer)?;
        if raw.get() == "null" {
            return Ok(Some(Cow::Borrowed(raw)));
        }
        *self = Some(Raw(Cow::Borrowed(raw)));
        Ok(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<'a, T: Loose<'a> + Default> Loose<'a> for Option<Box<T>> {
    fn object<A: MapAccess<'a>>(&mut self, map: A) -> Result<Odd<'a>, A::Error> {
        self.get_or_insert_default().object(map)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// An item of a list: an object of the expected kind, or anything else as written.
#[derive(Debug, Clone)]
pub(crate) enum Item<'a, T> {
    Fits(T),
    Odd(Cow<'a, RawValue>),
}

impl<T> Default for Item<'_, T> {
    fn default() -> Self {
        Item::Odd(Cow::Borrowed(RawValue::NULL))
    }
}

impl<'a, T: Loose<'a> + Default> Loose<'a> for Item<'a, T> {
    fn object<A: MapAccess<'a>>(&mut self, map: A) -> Result<Odd<'a>, A::Error> {
        *self = Item::Fits(T::default());
        match self {
            Item::Fits(item) => item.object(map),
            Item::Odd(_) => Ok(None),
        }
    }

    fn is_absent(&self) -> bool {
        false
    }
}

impl<T: Serialize> Serialize for Item<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Item::Fits(item) => item.serialize(serializer),
            Item::Odd(raw) => raw.serialize(serializer),
        }
    }
}

/// A non-empty list; an empty one does not fit.
impl<'a, T: Loose<'a> + Default> Loose<'a> for Vec<Item<'a, T>> {
    fn list<A: SeqAccess<'a>>(&mut self, mut list: A) -> Result<Odd<'a>, A::Error> {
        loop {
            let mut item = Item::default();
            match list.next_element_seed(Fill(&mut item))? {
                None if self.is_empty() => return Ok(Some(raw::<[u8]>(&[]))),
                None => return Ok(None),
                Some(None) => self.push(item),
                Some(Some(odd)) => self.push(Item::Odd(odd)),
            }
        }
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A non-empty list of anything.
impl<'a> Loose<'a> for Vec<Raw<'a>> {
    fn list<A: SeqAccess<'a>>(&mut self, mut list: A) -> Result<Odd<'a>, A::Error> {
        while let Some(item) = list.next_element::<&'a RawValue>()? {
            self.push(Raw(Cow::Borrowed(item)));
        }
        Ok(self.is_empty().then(|| raw::<[u8]>(&[])))
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
