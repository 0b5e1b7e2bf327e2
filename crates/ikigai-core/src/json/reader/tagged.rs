//! Support for types other than wire structs: variants with content, and keys that are not strings.

use std::borrow::Cow;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer as _, MapAccess as _, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Inside, Refused};

/// A variant as an object with one entry: its name and its content.
pub(super) struct Variant<'a, 'de>(pub(super) Inside<'a, 'de>);

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self), Refused> {
        let name = self.0.next_key_seed(seed)?;
        name.map(|name| (name, self)).ok_or_else(|| Refused::new("expected value"))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Refused;

    fn unit_variant(mut self) -> Result<(), Refused> {
        self.0.next_value()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, Refused> {
        self.0.next_value_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.0.reader.expect(b':')?;
        self.0.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Refused> {
        self.0.reader.expect(b':')?;
        self.0.reader.deserialize_any(visitor)
    }
}

/// A key. In JSON it is a string, whatever it represents.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

macro_rules! number {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            match self.0.parse::<serde_json::Number>() {
                Ok(number) => number.deserialize_any(visitor).map_err(Refused::of),
                Err(_) => Err(Refused::new("invalid value: expected key to be a number in quotes")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Cow::Borrowed(key) => visitor.visit_borrowed_str(key),
            Cow::Owned(key) => visitor.visit_string(key),
        }
    }

    number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0.as_ref() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_enum(self.0.as_ref().into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
