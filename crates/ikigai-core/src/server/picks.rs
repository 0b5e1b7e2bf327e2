//! The receiver of values that are picked out of JSON, and its possible decisions.

/// What to do with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take<P, S> {
    /// Skip it.
    Skip,
    /// Look at its fields, or at those of each object in it if it is a list.
    Enter(P),
    /// Report it as JSON.
    Keep(S),
}

/// What an entered value turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    List,
}

/// Whether the rest of this document is of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Enough,
}

/// Decides which values matter, and receives them.
pub(crate) trait Picks {
    /// The position of an object in a document.
    type Place: Copy + std::fmt::Debug;
    /// Identifies a kept value.
    type Slot: Copy + std::fmt::Debug;

    /// Returns the place of the outermost object.
    fn root(&self) -> Self::Place;

    /// A value that is entered begins, or an object in a list that is entered.
    fn open(&mut self, place: Self::Place, shape: Shape);

    /// A value should be entered, but is neither an object nor a list, or too deep. Returns the slot to keep it in, if any.
    fn scalar(&mut self, place: Self::Place) -> Option<Self::Slot>;

    /// What was entered has ended.
    fn close(&mut self, shape: Shape);

    /// Returns what to do with the value of a key.
    fn field(&self, place: Self::Place, key: &str) -> Take<Self::Place, Self::Slot>;

    /// Receives a kept value.
    fn value(&mut self, slot: Self::Slot, json: &str) -> Flow;

    /// A value should be kept, but is too large.
    fn large(&mut self, slot: Self::Slot);
}
