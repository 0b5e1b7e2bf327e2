//! Vectors on the wire. They are read directly into numbers: as a tree they would take twenty times the memory.

use std::fmt;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// Longer than any model's vectors.
const LONGEST: usize = 1 << 16;
/// More vectors than any request asks for.
const MOST: usize = 4096;

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) data: Option<Few<Numbered>>,
    pub(super) embeddings: Option<Few<Listed>>,
    pub(super) usage: Option<Usage>,
    #[serde(rename = "usageMetadata")]
    pub(super) usage_metadata: Option<UsageMetadata>,
}

#[derive(Deserialize)]
pub(super) struct Numbered {
    pub(super) index: Option<u64>,
    pub(super) embedding: Option<Vector>,
}

#[derive(Deserialize)]
pub(super) struct Listed {
    pub(super) values: Option<Vector>,
}

#[derive(Deserialize)]
pub(super) struct Usage {
    pub(super) prompt_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct UsageMetadata {
    #[serde(rename = "promptTokenCount")]
    pub(super) prompt_token_count: Option<u64>,
}

/// A list whose length is limited.
pub(super) struct Few<T>(pub(super) Vec<T>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Few<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of vectors")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
                let mut few = Vec::new();
                while let Some(one) = list.next_element()? {
                    if few.len() == MOST {
                        return Err(A::Error::custom(format!("there are more than {MOST} vectors")));
                    }
                    few.push(one);
                }
                Ok(Few(few))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}

/// A vector as a list of numbers, or as the base64 of its bytes, little-endian.
pub(super) struct Vector(pub(super) Vec<f32>);

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Numbers)
    }
}

struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = Vector;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vector: numbers, or base64")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vector, A::Error> {
        let mut numbers: Vec<f32> = Vec::new();
        while let Some(number) = list.next_element()? {
            if numbers.len() == LONGEST {
                return Err(A::Error::custom(format!("a vector has more than {LONGEST} numbers")));
            }
            numbers.push(number);
        }
        numbers.shrink_to_fit();
        Ok(Vector(numbers))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vector, E> {
        let broken = || E::custom("a vector is not the base64 of 32-bit numbers");
        if text.len() > LONGEST * 6 {
            return Err(E::custom(format!("a vector has more than {LONGEST} numbers")));
        }
        let bytes = STANDARD.decode(text).map_err(|_| broken())?;
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(broken());
        }
        Ok(Vector(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()))
    }
}
