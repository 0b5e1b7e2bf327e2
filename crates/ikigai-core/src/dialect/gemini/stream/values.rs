//! Single values of a frame, read without copies.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A count: a number, or a text of digits. Anything else counts nothing.
pub(super) struct Count(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(Some(count)))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_str<E>(self, text: &str) -> Result<Count, E> {
                Ok(Count(text.parse().ok()))
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// A mark of any value, to tell it from another without keeping either. `null` has the mark 0, as what is not kept.
pub(super) struct Mark(pub(super) u64);

impl Mark {
    fn of(kind: u64, bytes: &[u8]) -> Self {
        let mut mark = Mark(kind);
        mark.mix(bytes.len() as u64);
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(piece) {
                *to = *from;
            }
            mark.mix(u64::from_le_bytes(word));
        }
        mark
    }

    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarkVisitor;
        impl<'de> Visitor<'de> for MarkVisitor {
            type Value = Mark;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Mark, E> {
                Ok(Mark(0))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Mark, E> {
                Ok(Mark::of(1, &[u8::from(flag)]))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Mark, E> {
                Ok(Mark::of(2, &number.to_le_bytes()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Mark, E> {
                Ok(Mark::of(3, &number.to_le_bytes()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Mark, E> {
                Ok(Mark::of(4, &number.to_le_bytes()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Mark, E> {
                Ok(Mark::of(5, text.as_bytes()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Mark, A::Error> {
                let mut mark = Mark::of(6, &[]);
                while let Some(Mark(item)) = seq.next_element()? {
                    mark.mix(item);
                }
                mark.mix(6);
                Ok(mark)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Mark, A::Error> {
                let mut mark = Mark::of(7, &[]);
                while let Some((Mark(name), Mark(value))) = map.next_entry()? {
                    mark.mix(name);
                    mark.mix(value);
                }
                mark.mix(7);
                Ok(mark)
            }
        }
        deserializer.deserialize_any(MarkVisitor)
    }
}
