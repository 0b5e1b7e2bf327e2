//! Tables that the build script compiled to bytes. A row is read only when needed, and then kept.

use std::borrow::Cow;
use std::sync::OnceLock;

/// A table of rows. It is a static, since references to its rows live as long as the program.
#[derive(Debug)]
pub(crate) struct Packed<T: 'static> {
    rows: &'static [u8],
    /// The start of each row.
    starts: &'static [u32],
    read_row: fn(Row) -> Option<T>,
    read: OnceLock<Box<[OnceLock<Box<T>>]>>,
}

impl<T> Packed<T> {
    pub(crate) const fn new(rows: &'static [u8], starts: &'static [u32], read_row: fn(Row) -> Option<T>) -> Self {
        Packed { rows, starts, read_row, read: OnceLock::new() }
    }

    /// Returns all rows, in order.
    pub(crate) fn iter<'a>(&'static self) -> impl Iterator<Item = &'a T> {
        (0..self.starts.len()).filter_map(|place| self.get(place))
    }

    pub(crate) fn get(&'static self, place: usize) -> Option<&'static T> {
        let read = self.read.get_or_init(|| self.starts.iter().map(|_| OnceLock::new()).collect()).get(place)?;
        match read.get() {
            Some(row) => Some(row),
            None => {
                let row = (self.read_row)(self.row(place)?)?;
                Some(read.get_or_init(|| Box::new(row)))
            }
        }
    }

    /// Returns a row in its stored form.
    pub(crate) fn row(&self, place: usize) -> Option<Row> {
        self.rows.get(usize::try_from(*self.starts.get(place)?).ok()?..).map(Row)
    }
}

/// The unread rest of a row. `build/packed.rs` writes what is read here.
#[derive(Debug)]
pub(crate) struct Row(&'static [u8]);

impl Row {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(first & 0x7f) << shift;
            if *first < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number that may be absent.
    pub(crate) fn optional<N: TryFrom<u64>>(&mut self) -> Option<Option<N>> {
        match self.number()?.checked_sub(1) {
            Some(number) => N::try_from(number).ok().map(Some),
            None => Some(None),
        }
    }

    pub(crate) fn flag(&mut self) -> Option<Option<bool>> {
        Some(self.optional::<u64>()?.map(|flag| flag != 0))
    }

    pub(crate) fn one_of<T: Copy>(&mut self, pool: &[T]) -> Option<T> {
        pool.get(usize::try_from(self.number()?).ok()?).copied()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'static [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<Cow<'static, str>> {
        std::str::from_utf8(self.bytes()?).ok().map(Cow::Borrowed)
    }

    pub(crate) fn optional_text(&mut self) -> Option<Option<Cow<'static, str>>> {
        Some(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// Reads this many strings.
    pub(crate) fn texts(&mut self, count: u64) -> Option<Cow<'static, [Cow<'static, str>]>> {
        if count == 0 {
            return Some(Cow::Borrowed(&[]));
        }
        (0..count).map(|_| self.text()).collect::<Option<Vec<_>>>().map(Cow::Owned)
    }
}
