//! Who is told of the values that are picked out of JSON, and what they can say.

/// What to do with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take<P, S> {
    /// Step over it.
    Skip,
    /// Look at its fields, or at those of each object in it if it is a list.
    Enter(P),
    /// Hand it over as JSON.
    Keep(S),
}

/// What a value that is entered turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    List,
    /// Neither; there is nothing to enter.
    Scalar,
}

/// Is there anything else of interest in this document?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Enough,
}

/// Someone who knows which values matter.
pub(crate) trait Picks {
    /// Where in a document an object is.
    type Place: Copy + std::fmt::Debug;
    /// Which value it is that is kept.
    type Slot: Copy + std::fmt::Debug;

    /// The place of the outermost object.
    fn root(&self) -> Self::Place;

    /// A value that is entered begins, or an object in a list that is entered.
    fn open(&mut self, place: Self::Place, shape: Shape);

    /// An object that was entered is over.
    fn close(&mut self, place: Self::Place);

    /// What to do with the value of a key.
    fn field(&self, place: Self::Place, key: &str) -> Take<Self::Place, Self::Slot>;

    /// A value that is kept.
    fn value(&mut self, slot: Self::Slot, json: &str) -> Flow;

    /// A value that should be kept and is too large for it.
    fn large(&mut self, slot: Self::Slot);
}
